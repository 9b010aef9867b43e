// SPDX-License-Identifier: MIT
// Касса «взаимопомощи» — 互助.
pragma solidity ^0.8.20;

import "./Owned.sol";
import {Math as M, Safe} from "./Math.sol";
import * as Tokens from "./Tokens.sol";

uint256 constant LIMIT = 100 ether;

error TooMuch(uint256 asked, uint256 limit);

struct Member {
    address who;
    uint256 paid;
}

type Share is uint128;

/// @title What can be paid into.
interface IFund {
    event Paid(address indexed who, uint256 amount);

    function pay() external payable;
}

library Shares {
    function half(uint256 value) internal pure returns (uint256) {
        return value / 2;
    }
}

/**
 * @title A fund of members.
 */
abstract contract Fund is Owned, IFund {
    using Shares for uint256;

    enum State { Open, Closed }

    mapping(address => Member) private members;
    State public state;

    /// Only while it is open.
    modifier whenOpen() {
        require(state == State.Open, "closed");
        _;
    }

    constructor(address owner) Owned(owner) {
        state = State.Open;
    }

    receive() external payable {
        pay();
    }

    fallback() external {}

    /// @notice Pays in.
    function pay() public payable override whenOpen {
        if (msg.value > LIMIT) {
            revert TooMuch(msg.value, LIMIT);
        } else {
            members[msg.sender].paid += msg.value;
        }
        for (uint256 i = 0; i < 3; i++) {
            emit Paid(msg.sender, msg.value);
        }
        assembly {
            let x := 1
        }
    }

    function close() external virtual;
}

function doubled(uint256 value) pure returns (uint256) {
    return value * 2;
}
