import Foundation
import ZoflBridge
import ZoflMobile

/// One loss that is asked for. It is valid until the callback returns.
public struct Round {
    let round: ZoflMobileRound

    /// Number of parameters.
    public var dim: Int { round.dim() }
    /// The record that this round will make.
    public var record: Int64 { round.record() }
    /// Local step within the round, from 0.
    public var step: Int { round.step() }
    /// Number of samples in the minibatch; 0 for all of the device's samples.
    public var batchSize: Int { round.batchSize() }
    /// Seed of the minibatch: the same for all losses that are compared with each other.
    public var batchSeed: Int64 { round.batchSeed() }
    /// Whether the result is no longer needed: return anything, soon.
    public var cancelled: Bool { round.cancelled() }
    /// How long the result is still needed, in seconds; zero once it is not.
    public var remaining: TimeInterval { TimeInterval(round.remainingMilliseconds()) / 1000 }

    /// Number of this loss among those of its local step, from 0. What depends on the minibatch
    /// alone need be computed for loss 0 only.
    public var probe: Int { round.probe() }
    /// How many losses the local step takes.
    public var probes: Int { round.probes() }
    /// The plan's segments, in their order; a plan without any has one, `all`.
    public var segments: [Segment] {
        guard let plan: ZoflMobilePlan = round.plan() else { return [] }
        return Plan(plan: plan).segments
    }

    /// Writes parameters from `offset` on into `block`, as many as fit and exist; returns how many.
    public func read(_ offset: Int, into block: Block) throws -> Int {
        var n = 0
        try check(ZoflReadRound(round, offset, block.bytes, &n))
        return n
    }

    /// ``read(_:into:)`` for an engine that takes float16: each parameter is rounded to the
    /// nearest, of two the even one; from 65520 on it becomes infinite.
    public func readHalf(_ offset: Int, into block: HalfBlock) throws -> Int {
        var n = 0
        try check(ZoflReadRoundHalf(round, offset, block.bytes, &n))
        return n
    }

    /// ``read(_:into:)`` for an engine that takes int8: the nearest multiples of `scale`, from
    /// -127 to 127 times. `scale` is positive and finite; `127 * scale` is the largest parameter
    /// that is not cut.
    public func readInt8(_ offset: Int, scale: Double, into block: Int8Block) throws -> Int {
        var n = 0
        try check(ZoflReadRoundInt8(round, offset, scale, block.bytes, &n))
        return n
    }
}

/// All points of a local step, on the same minibatch. It is valid until the callback returns.
public struct Step {
    let native: ZoflMobileProbes

    /// Number of points: 2P with P perturbations and central differences, else 1 + P.
    public var probes: Int { native.count() }
    /// Number of parameters.
    public var dim: Int { native.dim() }
    /// The record that this round will make.
    public var record: Int64 { native.record() }
    /// Local step within the round, from 0.
    public var step: Int { native.step() }
    /// Number of samples in the minibatch; 0 for all of the device's samples.
    public var batchSize: Int { native.batchSize() }
    /// Seed of the minibatch: the same for all probes.
    public var batchSeed: Int64 { native.batchSeed() }
    /// Whether the losses are no longer needed.
    public var cancelled: Bool { native.cancelled() }
    /// How long the losses are still needed, in seconds; zero once they are not.
    public var remaining: TimeInterval { TimeInterval(native.remainingMilliseconds()) / 1000 }

    /// The plan's segments, in their order; a plan without any has one, `all`.
    public var segments: [Segment] {
        guard let plan: ZoflMobilePlan = native.plan() else { return [] }
        return Plan(plan: plan).segments
    }

    /// Writes parameters of one point, as ``Round/read(_:into:)`` does.
    public func read(_ probe: Int, from offset: Int, into block: Block) throws -> Int {
        var n = 0
        try check(ZoflReadProbe(native, probe, offset, block.bytes, &n))
        return n
    }

    /// Writes parameters of one point, as ``Round/readHalf(_:into:)`` does.
    public func readHalf(_ probe: Int, from offset: Int, into block: HalfBlock) throws -> Int {
        var n = 0
        try check(ZoflReadProbeHalf(native, probe, offset, block.bytes, &n))
        return n
    }

    /// Writes parameters of one point, as ``Round/readInt8(_:scale:into:)`` does.
    public func readInt8(
        _ probe: Int, from offset: Int, scale: Double, into block: Int8Block
    ) throws -> Int {
        var n = 0
        try check(ZoflReadProbeInt8(native, probe, offset, scale, block.bytes, &n))
        return n
    }

    /// Writes parameters from `offset` on of every point, the first point's first: `count` of
    /// each, or as many as exist; returns how many. `block` has `count * probes` parameters.
    /// Each direction is made once for all points.
    public func readAll(_ offset: Int, count: Int, into block: Block) throws -> Int {
        var n = 0
        try check(ZoflReadAll(native, offset, count, block.bytes, &n))
        return n
    }

    /// Sets the mean loss at a point.
    public func setLoss(_ value: Double, of probe: Int) throws {
        try translate { try native.setLoss(probe, loss: value) }
    }
}

/// One measurement of the model. It is valid until the callback returns.
public struct Evaluation {
    let evaluation: ZoflMobileEvaluation

    /// Number of parameters.
    public var dim: Int { evaluation.dim() }
    /// Whether the metrics are no longer needed.
    public var cancelled: Bool { evaluation.cancelled() }
    /// How long the metrics are still needed, in seconds; zero once they are not.
    public var remaining: TimeInterval { TimeInterval(evaluation.remainingMilliseconds()) / 1000 }

    /// The plan's segments, in their order; a plan without any has one, `all`.
    public var segments: [Segment] {
        guard let plan: ZoflMobilePlan = evaluation.plan() else { return [] }
        return Plan(plan: plan).segments
    }

    /// Writes parameters from `offset` on into `block`, as many as fit and exist; returns how many.
    public func read(_ offset: Int, into block: Block) throws -> Int {
        var n = 0
        try check(ZoflReadEvaluation(evaluation, offset, block.bytes, &n))
        return n
    }

    /// ``read(_:into:)`` for an engine that takes float16: each parameter is rounded to the
    /// nearest, of two the even one; from 65520 on it becomes infinite.
    public func readHalf(_ offset: Int, into block: HalfBlock) throws -> Int {
        var n = 0
        try check(ZoflReadEvaluationHalf(evaluation, offset, block.bytes, &n))
        return n
    }

    /// ``read(_:into:)`` for an engine that takes int8: the nearest multiples of `scale`, from
    /// -127 to 127 times. `scale` is positive and finite; `127 * scale` is the largest parameter
    /// that is not cut.
    public func readInt8(_ offset: Int, scale: Double, into block: Int8Block) throws -> Int {
        var n = 0
        try check(ZoflReadEvaluationInt8(evaluation, offset, scale, block.bytes, &n))
        return n
    }

    /// Adds the value of the plan's next metric: finite, a mean over the samples.
    public func metric(_ value: Double) throws {
        try translate { try evaluation.addMetric(value) }
    }

    /// Sets how many samples the metrics are means over, at least 1.
    public func samples(_ n: Int) throws {
        try translate { try evaluation.setSamples(n) }
    }
}
