import Foundation
import ZoflMobile

/// What the owner of the phone allows.
public struct Limits: Sendable {
    public var unmeteredOnly = true
    public var chargingOnly = true
    /// Charge in percent below which the phone does not train, unless it is charging.
    public var minBattery = 30

    public init() {}
}

/// Which run a device joins, and how. It contains no secrets: printing it is safe.
public struct DeviceConfig: Sendable {
    /// Name of the run, as in the operator's plan.
    public var run: String
    /// Name of this device in the run: at most 32 letters, digits, - and _.
    public var device: String
    /// Number of parameters.
    public var dim: Int
    /// Such as `tls://host:4222`; several for a cluster.
    public var servers: [String]
    /// Directory for checkpoints; empty for none. Exclude it from backups: a second phone with
    /// a copy would answer in this device's name.
    public var stateDir: String
    /// PEM of the authority that signed the server's certificate; nil: the system's, as Go
    /// finds them.
    public var ca: String?
    /// Decides about the server in place of ``ca``; nil: that authority does.
    public var trust: Trust?
    /// Keys of which the server, or an authority above it, must have one: `sha256/` and base64.
    public var pins: [String] = []
    /// Number of training samples here, this device's weight in a mean; 0 counts as 1.
    public var samples = 0
    /// Threads that may generate directions at once; 0 for one per core.
    public var workers = 1
    /// Whether a loss that fails in the first round, and again, ends the session with the code `loss`.
    public var strict = true
    /// Allows a connection without TLS, to this machine only, for trying things out.
    public var plaintext = false
    public var limits = Limits()
    /// First parameters, `dim` of them, for a plan that leaves them to the app; nil: none.
    public var initial: [Float]?
    /// What the run's operator sees of this app and its version, such as `pantry 1.4`: at most 48
    /// characters of ASCII. With it the operator also sees the platform, the battery and whether
    /// the network is metered. Empty: nothing of all that.
    public var about = ""

    public init(run: String, device: String, dim: Int, servers: [String], stateDir: String) {
        self.run = run
        self.device = device
        self.dim = dim
        self.servers = servers
        self.stateDir = stateDir
    }

    /// For a device that is given the line of `zofl device add --qr`, which names run, device and
    /// server.
    public init(dim: Int, stateDir: String) {
        self.init(run: "", device: "", dim: dim, servers: [], stateDir: stateDir)
    }

    /// Makes the native library's configuration. `credentials` and `line` are texts of
    /// `zofl device add`.
    func native(_ credentials: String?, line: String?, runKey: Data?) throws -> ZoflMobileConfig {
        guard let config: ZoflMobileConfig = ZoflMobileNewConfig() else {
            throw ZoflError(code: ZoflMobileCodeFault, detail: "no memory for a configuration")
        }
        if let line { try config.enroll(line) } // before what the app sets besides
        if !run.isEmpty { config.run = run }
        if !device.isEmpty { config.device = device }
        config.dim = dim
        config.stateDir = stateDir
        config.samples = samples
        config.workers = workers
        config.notStrict = !strict
        config.plaintext = plaintext
        config.unmeteredOnly = limits.unmeteredOnly
        config.chargingOnly = limits.chargingOnly
        config.minBattery = limits.minBattery
        config.about = about
        for server in servers { try config.addServer(server) }
        if let credentials { try config.setCredentials(credentials) }
        if let ca { try config.setCA(ca) }
        if let trust { config.setTrust(TrustCallback(trust)) }
        if let runKey { try config.setRunKey(runKey) }
        if let initial {
            try config.setInitial(initial.withUnsafeBytes { Data($0) }) // little-endian, as Go reads
        }
        for pin in pins { try config.addPin(pin) }
        return config
    }
}
