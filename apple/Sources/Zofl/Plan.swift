import Foundation
import ZoflMobile

/// Consecutive parameters that the plan names, such as a layer's weights.
public struct Segment: Equatable, Sendable {
    public let name: String
    /// Number of its first parameter.
    public let offset: Int
    /// How many parameters it has.
    public let length: Int
}

/// What a run asks of a device.
public struct Plan {
    let plan: ZoflMobilePlan

    /// Number of parameters.
    public var dim: Int64 { plan.dim() }
    /// Local steps of a round.
    public var steps: Int64 { plan.steps() }
    /// Losses of a round.
    public var queries: Int64 { plan.queries() }
    /// Samples that a loss is a mean of; 0 for all of the device's.
    public var batchSize: Int64 { plan.batchSize() }
    /// How long a round waits for this device, in seconds.
    public var deadline: TimeInterval { TimeInterval(plan.deadlineMilliseconds()) / 1000 }
    /// Memory that the device needs for it, in bytes.
    public var memory: Int64 { plan.memory() }
    /// Whether the run has a secret key: see `runKey` of ``Device/open``.
    public var isPrivate: Bool { plan.private() }

    /// The segments, in their order; a plan without any has one, `all`.
    public var segments: [Segment] {
        var list: [Segment] = []
        for i in 0..<plan.segments() {
            guard let segment: ZoflMobileSegment = plan.segment(i) else { break }
            list.append(
                Segment(name: segment.name(), offset: segment.offset(), length: segment.length()))
        }
        return list
    }
}

/// Asked before the device takes part in a plan, and again when the plan changes. Return to accept;
/// throw to decline: the operator sees a device that declines by policy.
public typealias Consent = (Plan) throws -> Void

/// The certificates that a server sent.
public struct ServerChain {
    /// In X.509's DER form, the server's own first. `SecCertificateCreateWithData` takes them.
    public let certificates: [Data]
    /// The name or address of the server, for which the first certificate is.
    public let host: String
    /// Kind of the server's key: `ECDHE_RSA`, `ECDHE_ECDSA` or `UNKNOWN`.
    public let authType: String
}

/// Decides whether a server's certificates are trusted, in place of the native library: it throws
/// unless they are. The host's name is checked besides it. It has 20 seconds.
public typealias Trust = @Sendable (ServerChain) throws -> Void
