package a.b;
import java.util.*;
/** Doc. */
@Deprecated
public class A<T> extends B implements C {
    private int x = 1;
    public A(int x) { this.x = x; }
    @Override
    public String toString() { return ""; }
    enum Color { RED; int v() { return 1; } }
    interface I { void m(); default void n() {} }
    record P(int a, int b) { P {} }
    static { System.out.println(); }
}
@interface Ann { int value() default 1; }
