#if os(iOS)
import BackgroundTasks
import Foundation

/// Trains in the background, when iOS grants a BGProcessingTask: mostly at night, for minutes.
/// An app subclasses it and overrides ``open()``. Its Info.plist lists the identifier under
/// `BGTaskSchedulerPermittedIdentifiers`, and `processing` under `UIBackgroundModes`.
open class TrainingScheduler: @unchecked Sendable {
    public let identifier: String
    public let limits: Limits

    public init(identifier: String, limits: Limits = Limits()) {
        self.identifier = identifier
        self.limits = limits
    }

    /// Makes the device of one session, with ``limits`` in its configuration; the scheduler
    /// closes it. Override it.
    open func open() async throws -> Device {
        fatalError("\(type(of: self)) does not override open(): return a Device there")
    }

    /// Gets how a session ended: nil for its time being up or the run's end.
    open func finished(_ error: Error?) {}

    /// The longest session, in seconds. iOS may end it sooner, which costs a round.
    open var budget: TimeInterval { 9 * 60 }

    /// Tells iOS what to launch. Call it before the app has finished launching.
    /// Returns false if the Info.plist does not list the identifier.
    @discardableResult
    public func register() -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
            self.train(in: task)
        }
    }

    /// Asks for the next session, about an hour from now or later.
    public func schedule() throws {
        let request = BGProcessingTaskRequest(identifier: identifier)
        request.requiresNetworkConnectivity = true
        request.requiresExternalPower = limits.chargingOnly
        request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
        try BGTaskScheduler.shared.submit(request)
    }

    /// Takes back what ``schedule()`` asked for: when the user opts out.
    public func cancel() {
        BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: identifier)
    }

    private func train(in task: BGTask) {
        let session = Task {
            var fault: Error?
            var again = false
            do {
                again = try await self.session()
            } catch {
                fault = error
                again = (error as? ZoflError)?.mayPass ?? false
            }
            do { if again { try self.schedule() } } catch { fault = error }
            self.finished(fault)
            task.setTaskCompleted(success: fault == nil)
        }
        task.expirationHandler = { session.cancel() }
    }

    /// Trains once. Returns whether the run goes on.
    private func session() async throws -> Bool {
        let device = try await open()
        defer { device.close() }
        let conditions = await Conditions(of: device)
        await conditions.start()
        var fault: Error?
        do {
            try await device.runFor(budget)
        } catch {
            if !(error is CancellationError) { fault = error } // canceled: the state is on disk
        }
        await conditions.stop()
        if let fault { throw fault }
        return !device.ended
    }
}
#endif
