// Фигуры на «плоскости» — 図形.
#include <vector>
#include "shapes/base.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))

SHAPES_BEGIN_NAMESPACE

namespace shapes { namespace plane {

struct Later;
using Points = std::vector<int>;

/// A point.
template <typename T>
class SHAPES_API Point : public Base {
 public:
  // Where all begins.
  Point() : x(0) {}
  explicit Point(T x) noexcept;
  ~Point() = default;
  T get() const { return x; }

  operator bool() const { return true; }
  explicit operator const T*() const { return &x; }
  bool operator==(const Point& o) const { return x == o.x; }
  void declared();

  struct Hash {
    size_t operator()(const Point& p) const { return p.x; }
  };

 private:
  enum class Kind : int { Near, Far };
  T x;
};

template <>
struct Traits<int> : Base {};

enum class Color { Red, Green };

union Word { int number; char bytes[4]; };

template <typename T>
concept Drawn = requires(T t) { t.draw(); };

constexpr auto twice = [](int q) { return q * 2; };

}}  // namespace shapes::plane

namespace shapes::solid {
class Cube final {
  void turn() LOCKED(mutex) {}
};
}

template <class T>
shapes::plane::Point<T>::Point(T x) noexcept : x(x) {
  try {
    check(x);
  } catch (const Error& e) {
    throw;
  }
}

int& shapes::plane::Point<int>::ref(int a) {
  auto l = [](int q) { return q; };
  return a;
}

shapes::plane::Point<int>::operator long() const { return 1; }

SHAPES_INLINE static char *dup(const char *s) { return 0; }

template <typename T, typename U>
[[nodiscard]] auto sum(T a, U b) -> decltype(a + b)
{
  return a + b;
}

typedef struct { int a; } Pair;
typedef struct node { int b; } Node;

extern "C" {
void c_fn(void) {}
}

TEST(Shapes, AreDrawn) {
  EXPECT_TRUE(true);
}
