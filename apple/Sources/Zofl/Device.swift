import Foundation
import ZoflBridge
import ZoflMobile

/// One phone's part in a run, for one session: it is finished once ``run()`` or ``runFor(_:)``
/// is canceled, or ``close()`` is called. Call `close` in any case: until then the device and
/// the app's closures keep each other alive.
///
/// Cancellation stops the native library and waits for it. So once the canceled task has
/// ended, the next device can use the state on disk. Any thread may call any method.
public final class Device: @unchecked Sendable {
    /// The latest state, round, loss and fault, for one reader. What nobody read in time is
    /// skipped. It ends with ``close()``.
    public let progress: AsyncStream<Progress>

    private let client: ZoflMobileClient
    private let news: News

    init(_ client: ZoflMobileClient, _ news: News) {
        self.client = client
        self.news = news
        progress = news.stream
    }

    /// Makes a device, on a thread of its own because that may read the disk. `credentials` is
    /// the text of a creds file or an nkey seed; nil for none. `line` is what `zofl device add
    /// --qr` prints: it names run, device, server, its authority and the credentials. `runKey` has
    /// the 32 bytes of a private run. `consent` is asked before the device takes part; nil: it
    /// does. Throws ``ZoflError``.
    public static func open(
        _ config: DeviceConfig, credentials: String? = nil, line: String? = nil,
        runKey: Data? = nil, objective: Objective, evaluator: Evaluator? = nil,
        consent: Consent? = nil
    ) async throws -> Device {
        try await onOwnThread("zofl-open") {
            try translate {
                let native: ZoflMobileConfig = try config.native(
                    credentials, line: line, runKey: runKey)
                switch objective {
                case .loss(let body): native.setBlockObjective(LossCallback(body))
                case .batch(let body): native.setBatchObjective(BatchCallback(body))
                }
                if let evaluator { native.setEvaluator(EvaluatorCallback(evaluator)) }
                if let consent { native.setConsent(ConsentCallback(consent)) }
                let news = News()
                native.setListener(news)
                return Device(try made(native), news)
            }
        }
    }

    /// Number of parameters.
    public var dim: Int { client.dim() }
    /// The current state; ``progress`` may have it a moment later.
    public var state: DeviceState { DeviceState(code: client.state()) }
    /// Whether the coordinator has ended the run.
    public var ended: Bool { client.ended() }

    /// The run's plan; nil before the run has asked this device to take part.
    public var plan: Plan? {
        guard let plan: ZoflMobilePlan = client.plan() else { return nil }
        return Plan(plan: plan)
    }

    /// Trains until the run ends. Throws ``ZoflError`` for what waiting cannot cure, and
    /// `CancellationError` when the task was canceled.
    public func run() async throws {
        try await training { try self.client.run() }
    }

    /// Trains for at most `seconds`, and returns with its state on disk.
    public func runFor(_ seconds: TimeInterval) async throws {
        try await training { try check(ZoflRunFor(self.client, Int64(seconds * 1000))) }
    }

    /// Reads the state on disk, so that ``params(into:)`` works without a connection.
    public func load() async throws {
        try await training { try self.client.load() }
    }

    /// Writes the model into `block`, of `dim` parameters; returns its record, 0 for none yet.
    public func params(into block: Block) throws -> Int64 {
        var record: Int64 = 0
        try check(ZoflReadModel(client, block.bytes, &record))
        return record
    }

    /// The state's digest in hexadecimal, the same on all devices at the same record; nil
    /// before the first.
    public func digest() throws -> String? {
        let block = try Block(count: 8) // 32 bytes
        var record: Int64 = 0
        try check(ZoflReadDigest(client, block.bytes, &record))
        if record == 0 { return nil }
        return (block.bytes as Data).map { String(format: "%02x", $0) }.joined()
    }

    /// Reports the network, which native code cannot ask for. See ``Conditions``.
    public func setNetwork(connected: Bool, metered: Bool) {
        client.setNetwork(connected, metered: metered)
    }

    /// Reports the battery. `percent` is its charge, 0 to 100; negative: not known.
    public func setPower(charging: Bool, percent: Int) {
        client.setPower(charging, percent: percent)
    }

    /// Replaces the connection: one from before a sleep looks alive for minutes.
    public func reconnect() { client.reconnect() }

    /// Finishes the device without waiting; a current ``run()`` returns soon.
    public func close() {
        client.stop()
        news.finish()
    }

    private func training(_ call: @escaping () throws -> Void) async throws {
        defer { news.traffic(sent: client.bytesSent(), received: client.bytesReceived()) }
        do {
            try await withTaskCancellationHandler {
                try await onOwnThread("zofl") { try translate(call) }
            } onCancel: {
                client.stop()
            }
        } catch {
            try Task.checkCancellation() // rather than the error of a stopped device
            throw error
        }
        try Task.checkCancellation()
    }
}

private func made(_ native: ZoflMobileConfig) throws -> ZoflMobileClient {
    var error: NSError?
    let client: ZoflMobileClient? = ZoflMobileNewClient(native, &error)
    try check(error)
    guard let client else {
        throw ZoflError(code: ZoflMobileCodeFault, detail: "no memory for a client")
    }
    return client
}

/// Runs a blocking call on a thread of its own: it would starve the threads of Swift's tasks.
private func onOwnThread<T>(_ name: String, _ call: @escaping () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Result(catching: call)) }
        thread.name = name
        thread.start()
    }
}
