#if os(iOS)
import Network
import UIKit

/// Reports network and battery to a device until ``stop()``: without it the device declines
/// every round for which ``Limits`` ask for what it does not know.
@MainActor
public final class Conditions {
    private let device: Device
    private let monitor = NWPathMonitor()
    private var observers: [NSObjectProtocol] = []

    public init(of device: Device) { self.device = device }

    public func start() {
        monitor.pathUpdateHandler = { [device] path in
            device.setNetwork(connected: path.status == .satisfied, metered: path.isExpensive)
        }
        monitor.start(queue: DispatchQueue(label: "zofl-network"))
        UIDevice.current.isBatteryMonitoringEnabled = true
        let names = [
            UIDevice.batteryStateDidChangeNotification, UIDevice.batteryLevelDidChangeNotification,
        ]
        observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) {
                [device] _ in
                Task { @MainActor in Conditions.reportPower(to: device) }
            }
        }
        Conditions.reportPower(to: device)
    }

    public func stop() {
        monitor.cancel()
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        observers = []
    }

    private static func reportPower(to device: Device) {
        let battery = UIDevice.current
        let charging = battery.batteryState == .charging || battery.batteryState == .full
        let level = battery.batteryLevel // from 0 to 1; -1: not known
        device.setPower(charging: charging, percent: level < 0 ? -1 : Int(level * 100))
    }
}
#endif
