import Foundation
import ZoflMobile

/// Parameters in memory of the app, which Go writes in place: no copy is made. Make one for
/// the whole of a training, and read into it again and again.
public final class Block {
    let bytes: NSMutableData

    /// Number of parameters that fit.
    public let count: Int

    /// Throws a ``ZoflError`` if there is no memory for `count` parameters of 4 bytes.
    public init(count: Int) throws {
        guard count >= 0, count <= Int.max / 4, let bytes = NSMutableData(length: 4 * count) else {
            throw ZoflError.settings(
                code: ZoflMobileCodeConfig,
                detail: "no memory for a block of \(count) parameters: give a smaller count")
        }
        self.bytes = bytes
        self.count = count
    }

    /// Calls `body` with the parameters where they are. All of Apple's processors are
    /// little-endian, as the bytes are. The pointer is valid during the call.
    public func withParameters<T>(_ body: (UnsafeBufferPointer<Float>) throws -> T) rethrows -> T {
        let start = bytes.bytes.assumingMemoryBound(to: Float.self)
        return try body(UnsafeBufferPointer(start: start, count: count))
    }

    /// The parameter at `index`, less than ``count``.
    public subscript(index: Int) -> Float {
        precondition(index >= 0 && index < count, "parameter \(index) of a block of \(count)")
        return withParameters { $0[index] }
    }
}
