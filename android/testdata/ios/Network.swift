// What the package in apple uses of Network, declared as Apple documents it. It has no code.
@_exported import Dispatch

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }

    public var status: Status { fatalError() }
    public var isExpensive: Bool { fatalError() }
}

public final class NWPathMonitor: @unchecked Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public func start(queue: DispatchQueue) { fatalError() }
    public func cancel() { fatalError() }
}
