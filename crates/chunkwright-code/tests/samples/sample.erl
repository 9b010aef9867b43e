%% Счёт: accounts and what moves between them.
-module(account).
-behaviour(gen_server).

-include("account.hrl").
-include_lib("kernel/include/logger.hrl").
-import(lists, [map/2]).

-export([open/1, move/3]).

-define(LIMIT, 100).
-define(TWICE(X), begin X, X end).

%% An account.
-record(account, {
    id :: integer(),
    balance = 0 :: integer()
}).

-type id() :: integer().
-opaque account() :: #account{}.

-callback show(account()) -> binary().

-doc "Opens an account.".
-spec open(id()) -> account().
open(Id) when is_integer(Id) ->
    #account{id = Id}.

%% Moves money.
-spec move(account(), account(), integer()) -> ok | {error, term()}.
move(_From, _To, 0) ->
    ok;
% all of it
move(From, To, all) ->
    move(From, To, From#account.balance);
move(From, To, Sum) ->
    case check(From, Sum) of
        ok ->
            log(To, <<"слово"/utf8>>),
            Sum;
        {error, Why} ->
            {error, Why}
    end.

check(_, _) -> ok.

-ifdef(TEST).
move_test() ->
    F = fun(X) -> X end,
    ok = F(ok).
-endif.

log(_, _) ->
    try
        ok
    catch
        error:Why -> Why
    after
        done
    end.
