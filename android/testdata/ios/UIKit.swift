// What the package in apple uses of UIKit, declared as Apple documents it. It has no code.
@_exported import Foundation

@MainActor open class UIDevice: NSObject {
    public enum BatteryState: Int, Sendable { case unknown, unplugged, charging, full }

    nonisolated public static let batteryStateDidChangeNotification = Notification.Name("state")
    nonisolated public static let batteryLevelDidChangeNotification = Notification.Name("level")
    public static var current: UIDevice { fatalError() }
    open var isBatteryMonitoringEnabled: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    open var batteryState: BatteryState { fatalError() }
    open var batteryLevel: Float { fatalError() }
}
