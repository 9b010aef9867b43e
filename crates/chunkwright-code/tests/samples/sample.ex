# Счёт: accounts and what moves between them.
defmodule Bank.Account do
  @moduledoc """
  An account of the «банк».
  """

  use GenServer
  alias Bank.{Log, Money}
  import Enum, only: [map: 2]
  require Logger

  @type id :: integer
  @limit 100

  defstruct [:id, balance: 0]

  defmodule Error do
    defexception [:message]
  end

  @doc "Opens an account."
  @spec open(id) :: t
  def open(id) when is_integer(id) do
    %__MODULE__{id: id}
  end

  @doc """
  Moves money.
  """
  @impl true
  def move(from, _to, 0), do: from

  # All of it.
  def move(from, to, :all) do
    move(from, to, from.balance)
  end

  def move(from, to, sum) do
    case check(from, sum) do
      :ok ->
        Log.write(to)
        sum

      {:error, why} ->
        raise Error, message: why
    end
  end

  defp check(%{balance: balance}, sum) when balance >= sum, do: :ok
  defp check(_, _), do: {:error, "мало"}

  defguard is_open(account) when account.balance > 0

  defmacro twice(code) do
    quote do
      unquote(code)
      unquote(code)
    end
  end

  defdelegate close(account), to: Log
  def a <~> b, do: {a, b}
end

defprotocol Bank.Show do
  @moduledoc false

  @doc "As text."
  def show(value)
end

defimpl Bank.Show, for: Bank.Account do
  def show(account), do: inspect(account)
end

defmodule Bank.AccountTest do
  use ExUnit.Case

  setup do
    {:ok, account: Bank.Account.open(1)}
  end

  describe "move/3" do
    @tag :slow
    test "moves", %{account: account} do
      assert account
    end
  end
end
