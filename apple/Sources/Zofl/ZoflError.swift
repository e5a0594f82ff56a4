import Foundation
import ZoflMobile

/// An error of the native library, by what an app can do about it. `code` is the first word
/// of its message and stable, `detail` the rest: field, value and remedy.
public enum ZoflError: Error, Equatable, Sendable {
    /// A setting cannot be used or does not fit the run: correct the app or the plan.
    case settings(code: String, detail: String)
    /// The server does not let this device in: new credentials are needed.
    case access(code: String, detail: String)
    /// Server or coordinator cannot be reached, or the server's identity is not proved.
    case connection(code: String, detail: String)
    /// The run is newer than this app.
    case outdated(code: String, detail: String)
    /// Another client uses the state, or this one is running already.
    case occupied(code: String, detail: String)
    /// The device was stopped: open a new one.
    case stopped(code: String, detail: String)
    /// The disk is full or damaged.
    case storage(code: String, detail: String)
    /// A round was declined or lost. Nothing to do, but look into many of the same kind.
    case round(code: String, detail: String)
    /// A bug, or a code that this version does not know.
    case unknown(code: String, detail: String)

    /// The error for a code and its message.
    public init(code: String, detail: String) {
        switch code {
        case ZoflMobileCodeConfig, ZoflMobileCodeInsecure, ZoflMobileCodeDim,
            ZoflMobileCodeInitial, ZoflMobileCodePlan:
            self = .settings(code: code, detail: detail)
        case ZoflMobileCodeCredentials, ZoflMobileCodeUnauthorized, ZoflMobileCodePermission,
            ZoflMobileCodeRefused, ZoflMobileCodeRunKey:
            self = .access(code: code, detail: detail)
        case ZoflMobileCodeOffline, ZoflMobileCodeQuiet, ZoflMobileCodeTLS:
            self = .connection(code: code, detail: detail)
        case ZoflMobileCodeUpgrade: self = .outdated(code: code, detail: detail)
        case ZoflMobileCodeRunning, ZoflMobileCodeLocked:
            self = .occupied(code: code, detail: detail)
        case ZoflMobileCodeStopped: self = .stopped(code: code, detail: detail)
        case ZoflMobileCodeStore: self = .storage(code: code, detail: detail)
        case ZoflMobileCodeLoss, ZoflMobileCodeTime, ZoflMobileCodeBusy, ZoflMobileCodePolicy,
            ZoflMobileCodeDiverged, ZoflMobileCodeRevoked:
            self = .round(code: code, detail: detail)
        default: // ZoflMobileCodeFault, ZoflMobileCodePanic
            self = .unknown(code: code, detail: detail)
        }
    }

    /// The error for what a native call reported.
    init(native error: Error) {
        let message = error.localizedDescription
        let code = ZoflMobileErrorCode(message)
        let skip = code.isEmpty ? 0 : code.count + 2 // the code, a colon and a space
        self.init(code: code, detail: String(message.dropFirst(skip)))
    }
}

extension ZoflError {
    /// Whether another session, later, may do without the error.
    public var mayPass: Bool {
        switch self {
        case .connection, .occupied, .storage: return true
        default: return false
        }
    }
}

extension ZoflError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case let .settings(code, detail), let .access(code, detail),
            let .connection(code, detail), let .outdated(code, detail),
            let .occupied(code, detail), let .stopped(code, detail),
            let .storage(code, detail), let .round(code, detail), let .unknown(code, detail):
            return "\(code): \(detail)"
        }
    }
}

/// Turns every error of the native library into a ``ZoflError``.
func translate<T>(_ call: () throws -> T) throws -> T {
    do {
        return try call()
    } catch let error as ZoflError {
        throw error
    } catch {
        throw ZoflError(native: error)
    }
}

/// Throws what a function of the bridge returned, if it is an error.
func check(_ error: Error?) throws {
    if let error { throw ZoflError(native: error) }
}
