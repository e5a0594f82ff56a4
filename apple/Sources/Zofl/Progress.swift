import ZoflMobile

/// What a device is doing.
public enum DeviceState: Int, Sendable {
    case idle, offline, joining, catchingUp, waiting, working, paused, ended, stopped

    /// A code that this version does not know becomes idle, so that an older app keeps working.
    init(code: Int) {
        switch Int64(code) {
        case ZoflMobileStateOffline: self = .offline
        case ZoflMobileStateJoining: self = .joining
        case ZoflMobileStateCatchingUp: self = .catchingUp
        case ZoflMobileStateWaiting: self = .waiting
        case ZoflMobileStateWorking: self = .working
        case ZoflMobileStatePaused: self = .paused
        case ZoflMobileStateEnded: self = .ended
        case ZoflMobileStateStopped: self = .stopped
        default: self = .idle // ZoflMobileStateIdle
        }
    }
}

/// Bytes at the socket since the device was opened, TLS included.
public struct Traffic: Equatable, Sendable {
    public var sent: Int64 = 0
    public var received: Int64 = 0
}

extension Device { // within it, as Foundation has a class Progress
    /// A device's progress, for a screen. Only the latest matters.
    public struct Progress: Equatable, Sendable {
        public var state = DeviceState.idle
        /// Why it is in `state`, as text; may be empty.
        public var reason = ""
        /// Last record that this device has applied.
        public var record: Int64 = 0
        /// Last record of the run.
        public var last: Int64 = 0
        public var round: Int64 = 0
        /// Number of rounds this device has contributed to.
        public var contributions: Int64 = 0
        /// Its last loss; nil before the first.
        public var loss: Double?
        public var traffic = Traffic()
        /// The latest fault that the device runs on with; nil if there is none, or it is over.
        public var fault: ZoflError?
    }
}
