import Foundation
import ZoflMobile

/// What a block has for each parameter.
public protocol BlockElement {}
extension Float: BlockElement {}
extension UInt16: BlockElement {}
extension Int8: BlockElement {}

/// Parameters in memory of the app, which Go writes in place: no copy is made. Make one for
/// the whole of a training, and read into it again and again.
public final class BlockOf<Element: BlockElement> {
    let bytes: NSMutableData

    /// Number of parameters that fit.
    public let count: Int

    /// Throws a ``ZoflError`` if there is no memory for `count` parameters.
    public init(count: Int) throws {
        let width = MemoryLayout<Element>.size
        guard count >= 0, count <= Int.max / width,
            let bytes = NSMutableData(length: width * count)
        else {
            throw ZoflError.settings(
                code: ZoflMobileCodeConfig,
                detail: "no memory for a block of \(count) parameters: give a smaller count")
        }
        self.bytes = bytes
        self.count = count
    }

    /// Calls `body` with the parameters where they are. All of Apple's processors are
    /// little-endian, as the bytes are. The pointer is valid during the call.
    public func withParameters<T>(_ body: (UnsafeBufferPointer<Element>) throws -> T) rethrows -> T
    {
        let start = bytes.bytes.assumingMemoryBound(to: Element.self)
        return try body(UnsafeBufferPointer(start: start, count: count))
    }

    /// The parameter at `index`, less than ``count``.
    public subscript(index: Int) -> Element {
        precondition(index >= 0 && index < count, "parameter \(index) of a block of \(count)")
        return withParameters { $0[index] }
    }
}

/// A block of floats: what a model has.
public typealias Block = BlockOf<Float>

/// A block of IEEE binary16, for engines that take float16: `Float16(bitPattern:)` reads one.
public typealias HalfBlock = BlockOf<UInt16>

/// A block of multiples of a scale, for engines that take int8.
public typealias Int8Block = BlockOf<Int8>
