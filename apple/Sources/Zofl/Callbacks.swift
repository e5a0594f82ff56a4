import Foundation
import ZoflMobile

/// Calls the app's loss from Go.
final class LossCallback: NSObject, ZoflMobileBlockObjectiveProtocol {
    private let body: (Round) throws -> Double

    init(_ body: @escaping (Round) throws -> Double) { self.body = body }

    func loss(_ r: ZoflMobileRound?, ret0_: UnsafeMutablePointer<Double>?) throws {
        guard let r, let ret0_ else { throw missing }
        ret0_.pointee = try described { try body(Round(round: r)) }
    }
}

/// Calls the app's losses of a whole step from Go.
final class BatchCallback: NSObject, ZoflMobileBatchObjectiveProtocol {
    private let body: (Step) throws -> Void

    init(_ body: @escaping (Step) throws -> Void) { self.body = body }

    func losses(_ p0: ZoflMobileProbes?) throws {
        guard let p0 else { throw missing }
        try described { try body(Step(native: p0)) }
    }
}

/// Calls the app's metrics from Go.
final class EvaluatorCallback: NSObject, ZoflMobileEvaluatorProtocol {
    private let body: Evaluator

    init(_ body: @escaping Evaluator) { self.body = body }

    func evaluate(_ e: ZoflMobileEvaluation?) throws {
        guard let e else { throw missing }
        try described { try body(Evaluation(evaluation: e)) }
    }
}

/// Asks the app from Go whether it trusts a server.
final class TrustCallback: NSObject, ZoflMobileTrustProtocol {
    private let body: Trust

    init(_ body: @escaping Trust) { self.body = body }

    func check(_ chain: ZoflMobileChain?) throws {
        guard let chain else { throw missing }
        let list = (0..<chain.len()).compactMap { chain.certificate($0) }
        let sent = ServerChain(
            certificates: list, host: chain.host(), authType: chain.authType())
        try described { try body(sent) }
    }
}

/// Asks the app from Go whether it takes part in a plan.
final class ConsentCallback: NSObject, ZoflMobileConsentProtocol {
    private let body: Consent

    init(_ body: @escaping Consent) { self.body = body }

    func accept(_ plan: ZoflMobilePlan?) throws {
        guard let plan else { throw missing }
        try described { try body(Plan(plan: plan)) }
    }
}

/// Go has no memory for the argument of a callback.
private let missing = NSError(
    domain: "zofl", code: 1, userInfo: [NSLocalizedDescriptionKey: "a callback got nil"])

/// Go takes an error's localizedDescription, which for an error of Swift has its type and a
/// number, not its values. So this throws an error whose description has these.
private func described<T>(_ call: () throws -> T) throws -> T {
    do {
        return try call()
    } catch {
        let text = String(reflecting: error)
        throw NSError(domain: "zofl", code: 1, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
