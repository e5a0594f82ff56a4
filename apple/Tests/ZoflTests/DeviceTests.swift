import Foundation
import XCTest

@testable import Zofl

final class DeviceTests: XCTestCase {
    private let client = FakeClient()
    private let news = News()
    private lazy var device = Device(client, news)

    private func failure(_ call: () async throws -> Void) async -> Error? {
        do {
            try await call()
            return nil
        } catch {
            return error
        }
    }

    func testCancellationStopsNativeCodeAndWaitsForIt() async throws {
        let device = device
        let session = Task { try await device.run() }
        await waited(for: client.running)
        session.cancel()
        let error = await failure { try await session.value }
        XCTAssertTrue(error is CancellationError, "\(String(describing: error))")
        XCTAssertEqual(client.calls, ["run", "stop", "returned"])
    }

    func testErrorsOfNativeCodeAreSorted() async throws {
        client.failure = "locked: StateDir is in use: stop the other client"
        let error = await failure { try await device.run() }
        XCTAssertEqual(
            error as? ZoflError,
            .occupied(code: "locked", detail: "StateDir is in use: stop the other client"))
    }

    func testProgressHasTheLatestAndEndsWithClose() async throws {
        try news.onState(5, reason: nil)
        try news.onProgress(3, last: 4, round: 2, contributions: 1, loss: 0.5)
        client.failure = "fault: over"
        _ = await failure { try await device.run() }
        var seen: [Device.Progress] = []
        device.close()
        for await now in device.progress { seen.append(now) }
        XCTAssertEqual(seen.count, 1, "only the latest is kept")
        XCTAssertEqual(seen.first?.state, .working)
        XCTAssertEqual(seen.first?.record, 3)
        XCTAssertEqual(seen.first?.loss, 0.5)
        XCTAssertEqual(seen.first?.traffic, Traffic(sent: 7, received: 9))
    }

    func testFaultsPassWithTheNextContributionOrService() async throws {
        try news.onFault("loss", message: "NaN")
        var now = await latest()
        XCTAssertEqual(now.fault, .round(code: "loss", detail: "NaN"))
        try news.onState(4, reason: "")
        now = await latest()
        XCTAssertNotNil(now.fault, "service is no contribution")
        try news.onProgress(1, last: 1, round: 1, contributions: 1, loss: .nan)
        now = await latest()
        XCTAssertNil(now.fault)
        XCTAssertNil(now.loss, "a NaN is no loss")
        try news.onFault("tls", message: "expired")
        try news.onState(4, reason: "")
        now = await latest()
        XCTAssertNil(now.fault, "a server that serves is trusted")
    }

    func testConditionsReachNativeCode() {
        device.setNetwork(connected: true, metered: true)
        device.setPower(charging: false, percent: 80)
        XCTAssertEqual(client.calls, ["network true", "power 80"])
    }

    private func latest() async -> Device.Progress {
        var iterator = news.stream.makeAsyncIterator()
        return await iterator.next()!
    }

    /// Waits on a thread of its own.
    private func waited(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread {
                semaphore.wait()
                continuation.resume()
            }.start()
        }
    }
}
