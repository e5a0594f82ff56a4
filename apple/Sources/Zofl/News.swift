import Foundation
import ZoflMobile

/// Turns the native library's news into the latest progress.
final class News: NSObject, ZoflMobileListenerProtocol, @unchecked Sendable {
    let stream: AsyncStream<Device.Progress>
    private let continuation: AsyncStream<Device.Progress>.Continuation
    private let lock = NSLock() // guards latest
    private var latest = Device.Progress()

    override init() {
        (stream, continuation) = AsyncStream<Device.Progress>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
    }

    func onState(_ state: Int, reason: String?) throws {
        let now = DeviceState(code: state)
        update {
            $0.state = now
            $0.reason = reason ?? ""
            if served.contains(now), $0.fault?.needsService == true { $0.fault = nil }
        }
    }

    func onProgress(
        _ record: Int64, last: Int64, round: Int64, contributions: Int64, loss: Double
    ) throws {
        update {
            if contributions > $0.contributions { $0.fault = nil } // a round succeeded
            $0.record = record
            $0.last = last
            $0.round = round
            $0.contributions = contributions
            $0.loss = loss.isNaN ? nil : loss
        }
    }

    func onFault(_ code: String?, message: String?) throws {
        let fault = ZoflError(code: code ?? "", detail: message ?? "")
        update { $0.fault = fault }
    }

    func traffic(sent: Int64, received: Int64) {
        update { $0.traffic = Traffic(sent: sent, received: received) }
    }

    /// Ends the stream.
    func finish() { continuation.finish() }

    private func update(_ change: (inout Device.Progress) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        change(&latest)
        continuation.yield(latest)
    }
}

/// States that a device has only with server and coordinator.
private let served: Set<DeviceState> = [.catchingUp, .waiting, .working, .paused, .ended]

extension ZoflError {
    /// Whether the error is over once server and coordinator answer.
    fileprivate var needsService: Bool {
        switch self {
        case .connection, .access: return true
        default: return false
        }
    }
}
