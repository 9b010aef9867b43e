#ifndef A_H
#define A_H
#include <vector>
#define MAX(a,b) ((a)>(b)?(a):(b))
namespace foo { namespace bar {
// A point.
template <typename T>
class Point : public Base {
 public:
  Point() : x(0) {}
  ~Point() = default;
  T get() const { return x; }
  operator bool() const { return true; }
  bool operator==(const Point& o) const { return true; }
  void decl();
 private:
  T x;
};
struct Fwd;
enum class Color { Red, Green };
}}
int& foo::bar::Point<int>::ref(int a) { auto l = [](int q) { return q; }; return a; }
static char *dup(const char *s) { return 0; }
typedef struct { int a; } Pair;
typedef struct node { int b; } Node;
extern "C" { void c_fn(void) {} }
using Alias = int;
#endif
