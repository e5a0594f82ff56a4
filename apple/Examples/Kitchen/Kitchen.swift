import Foundation
import Zofl

/// A phone that learns, with others, two numbers: how fast its kitchen cools, and to which
/// temperature. Each phone keeps its readings; the run sees losses alone.
struct Kitchen {
    /// Degrees, one a minute.
    let readings: [Float]

    /// The mean squared error of forecasts one minute ahead. x[0] is the part of the gap to
    /// x[1] degrees that closes in a minute.
    func loss(_ x: Block) -> Double {
        var sum = 0.0
        for (now, next) in zip(readings, readings.dropFirst()) {
            let miss = now + x[0] * (x[1] - now) - next
            sum += Double(miss * miss)
        }
        return sum / Double(max(1, readings.count - 1))
    }

    /// Trains until the run ends or the task is canceled, and returns the two numbers.
    func train(server: String, ca: String, credentials: String) async throws -> [Float] {
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil,
            create: true)
        var config = DeviceConfig(
            run: "kitchen", device: "phone-1", dim: 2, servers: [server],
            stateDir: folder.appendingPathComponent("kitchen").path)
        config.ca = ca
        config.samples = readings.count
        config.limits.unmeteredOnly = false
        config.limits.chargingOnly = false
        config.limits.minBattery = 0
        let x = try Block(count: 2)
        let device = try await Device.open(
            config, credentials: credentials,
            objective: .loss { round in
                _ = try round.read(0, into: x)
                return loss(x)
            })
        defer { device.close() }
        let screen = Task {
            for await now in device.progress { print(now.round, now.loss ?? .nan, now.state) }
        }
        defer { screen.cancel() }
        try await device.run()
        let model = try Block(count: device.dim)
        _ = try device.params(into: model)
        return model.withParameters { Array($0) }
    }
}
