// Почта «полей» — 郵便.
package post.office;

import java.util.List;
import java.util.concurrent.*;
import static java.lang.Math.max;

/**
 * A letter on its way.
 */
@Deprecated
@SuppressWarnings({"unused", "raw"})
public class Letter<T extends Comparable<T>> extends Parcel implements Sent, Counted {
    private static final int LIMIT = 10;
    private int weight = 1;

    private final Function<Integer, Integer> doubled = value -> {
        return value * 2;
    };

    static {
        System.out.println("готово");
    }

    public Letter(int weight) {
        this.weight = weight;
    }

    /** As it is shown. */
    @Override
    public String toString() {
        return "";
    }

    @Nullable public <S> List<S> stamps(Class<S> type) throws PostException {
        switch (weight) {
            case 0:
                return null;
            default:
                break;
        }
        Runnable done = () -> System.out.println("done");
        try {
            done.run();
        } catch (RuntimeException e) {
            throw new PostException(e);
        } finally {
            weight = 0;
        }
        return stamps(type, new Filter<S>() {
            @Override
            public boolean keeps(S stamp) {
                return true;
            }
        });
    }

    <S> List<S> stamps(Class<S> type, Filter<S> filter) { return null; }

    // How it is sent.
    enum Way {
        LAND,
        AIR {
            @Override int days() { return 1; }
        };

        int days() { return 9; }
    }

    interface Filter<S> {
        boolean keeps(S stamp);
        default void close() {}
    }

    record Address(String city, int index) {
        Address {
            index = max(index, 0);
        }

        static Address none() { return new Address("", 0); }
    }
}

sealed interface Sent permits Letter {}

@interface Route {
    String[] value() default {};
}
