defmodule Foo.Bar do
  @moduledoc "Doc"
  use GenServer
  alias Foo.Baz

  @doc "Adds"
  @spec add(integer, integer) :: integer
  def add(a, b) when is_integer(a) do
    a + b
  end

  def add(a, nil), do: a

  defp priv(x), do: x
  defstruct [:a]
  defmodule Inner do
    def x, do: 1
  end
end
test "does" do
  assert true
end
