// What the package in apple uses of BackgroundTasks, declared as Apple documents it. It has no
// code.
import Dispatch
import Foundation

open class BGTask: NSObject {
    open var expirationHandler: (() -> Void)?
    open func setTaskCompleted(success: Bool) { fatalError() }
}

open class BGTaskRequest: NSObject {
    open var earliestBeginDate: Date?
}

open class BGProcessingTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
    open var requiresNetworkConnectivity = false
    open var requiresExternalPower = false
}

open class BGTaskScheduler: NSObject {
    public class var shared: BGTaskScheduler { fatalError() }
    open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { fatalError() }
    open func submit(_ request: BGTaskRequest) throws { fatalError() }
    open func cancel(taskRequestWithIdentifier identifier: String) { fatalError() }
}
