// Журнал «наблюдений» за птицами 🐦.
import Foundation
@testable import BirdCore
import struct Birds.Wing

/// What is seen.
public protocol Sighting: AnyObject {
    associatedtype Place
    var place: Place { get }
    func describe() -> String
    init(place: Place)
}

/// A count with a lower bound.
@propertyWrapper
@available(iOS 13, *)
struct AtLeast<Value: Comparable> {
    private var value: Value
    let bound: Value

    init(wrappedValue: Value, _ bound: Value) {
        self.value = wrappedValue
        self.bound = bound
    }

    /// Never below the bound.
    var wrappedValue: Value {
        get { max(value, bound) }
        set { value = newValue }
    }
}

enum Weather: String, CaseIterable {
    case sun, rain
    case snow = "snow"

    var isWet: Bool { self != .sun }

    static func today() -> Weather {
        switch Int.random(in: 0..<3) {
        case 0:
            return .sun
        default:
            return .rain
        }
    }
}

#if os(iOS)
let screen = 1
#endif

@MainActor
public final class Journal {
    public private(set) var lines: [String] = []
    let format: (String) -> String = { line in
        line.uppercased()
    }

    struct Page {
        let number: Int
        func turn() {}
    }

    public convenience init() { self.init(lines: []) }

    init?(lines: [String]) {
        guard lines.count < 100 else { return nil }
        self.lines = lines
    }

    deinit { print("closed") }

    subscript(index: Int) -> String {
        return lines[index]
    }

    // Adds a line.
    @discardableResult
    public func add<S: Sighting>(_ sighting: S) async throws -> Int where S.Place == String {
        func trimmed(_ text: String) -> String { text }
        lines.append(trimmed(sighting.describe()))
        return lines.count
    }

    class func shared() -> Journal { Journal() }
}

extension Journal: CustomStringConvertible {
    public var description: String {
        lines.joined()
    }
}

actor Keeper {
    func keep() {}
}

func + (left: Journal, right: Journal) -> Journal { left }

typealias Lines = [String]

let journal = Journal()
journal.lines.forEach { print($0) }
