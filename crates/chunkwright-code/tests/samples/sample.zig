//! Очередь «заданий» — 待ち行列.

const std = @import("std");
const mem = std.mem;
const Allocator = @import("std").mem.Allocator;

/// How it ended.
pub const Outcome = enum {
    done,
    failed,

    pub fn ok(self: Outcome) bool {
        return self == .done;
    }
};

const QueueError = error{ Full, Empty };

/// A job to run.
pub const Job = struct {
    id: u32,
    name: []const u8 = "",

    const Self = @This();

    /// Makes one.
    pub fn init(id: u32) Self {
        return .{ .id = id };
    }

    pub const Result = union(enum) {
        value: u32,
        none,
    };
};

pub fn Queue(comptime T: type) type {
    return struct {
        items: []T,
        len: usize = 0,

        const This = @This();

        pub fn push(self: *This, item: T) QueueError!void {
            if (self.len == self.items.len) {
                return error.Full;
            } else {
                self.items[self.len] = item;
            }
            self.len += 1;
        }
    };
}

extern "c" fn puts(text: [*:0]const u8) c_int;

var count: usize = 0;

comptime {
    std.debug.assert(@sizeOf(u8) == 1);
}

// Where it starts.
pub fn main() !void {
    const gpa = std.heap.page_allocator;
    switch (count) {
        0 => {
            _ = gpa;
        },
        else => {},
    }
    while (count < 3) : (count += 1) {
        _ = puts("задание");
    }
}

inline fn twice(x: u32) u32 {
    return x * 2;
}

test "a job has its id" {
    const job = Job.init(3);
    try std.testing.expectEqual(@as(u32, 3), job.id);
}

test Job {
    _ = Job;
}
