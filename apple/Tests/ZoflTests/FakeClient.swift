import Foundation
import ZoflMobile

@testable import Zofl

/// A client without a server. Its run blocks as Go's does, until it is stopped.
final class FakeClient: ZoflMobileClient {
    let running = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)
    /// What run throws; nil: it waits for stop.
    var failure: String?
    private(set) var calls: [String] = []
    private let lock = NSLock() // guards calls

    private func note(_ call: String) {
        lock.lock()
        defer { lock.unlock() }
        calls.append(call)
    }

    override func run() throws {
        note(Thread.isMainThread ? "run on the main thread" : "run")
        running.signal()
        if let failure {
            throw NSError(
                domain: "go", code: 1, userInfo: [NSLocalizedDescriptionKey: failure])
        }
        stopped.wait()
        note("returned")
    }

    override func stop() {
        note("stop")
        stopped.signal()
    }

    override func bytesSent() -> Int64 { 7 }
    override func bytesReceived() -> Int64 { 9 }
    override func setNetwork(_ connected: Bool, metered: Bool) { note("network \(metered)") }
    override func setPower(_ charging: Bool, percent: Int) { note("power \(percent)") }
}
