package org.zofl.android

import zofl.mobile.BlockObjective
import zofl.mobile.Client
import zofl.mobile.Config
import zofl.mobile.Evaluation
import zofl.mobile.Listener
import zofl.mobile.Mobile
import zofl.mobile.Round

/**
 * The native library as a [Device]. Only this file of the app names the binding's
 * classes. It uses nothing of Android, so the tests of this repository run it with
 * the same library built for the JVM.
 */
class GoDevice private constructor(private val client: Client) : Device {
    override val dim get() = client.dim().toInt()
    override val state get() = DeviceState.of(client.state().toInt())
    override val ended get() = client.ended()
    override val traffic get() = Traffic(client.bytesSent(), client.bytesReceived())

    override fun run() = client.run()

    override fun runFor(milliseconds: Long) = client.runFor(milliseconds)

    override fun load() = client.load()

    override fun stop() = client.stop()

    override fun reconnect() = client.reconnect()

    override fun setNetwork(connected: Boolean, metered: Boolean) = client.setNetwork(connected, metered)

    override fun setPower(charging: Boolean, percent: Int) = client.setPower(charging, percent.toLong())

    override fun params(into: ByteArray) = client.params(into)

    override fun digest(into: ByteArray) = client.digest(into)

    companion object : DeviceOpener {
        override fun open(
            config: DeviceConfig, credentials: String?, loss: Loss, evaluator: Evaluator?, listener: DeviceListener,
        ): Device {
            val c = Mobile.newConfig()
            c.run = config.run
            c.device = config.device
            c.dim = config.dim.toLong()
            c.stateDir = config.stateDir
            c.samples = config.samples.toLong()
            c.workers = config.workers.toLong()
            c.plaintext = config.plaintext
            c.unmeteredOnly = config.limits.unmeteredOnly
            c.chargingOnly = config.limits.chargingOnly
            c.minBattery = config.limits.minBattery.toLong()
            config.servers.forEach(c::addServer)
            config.ca?.let(c::setCA)
            credentials?.let(c::setCredentials)
            c.setBlockObjective(BlockLoss(loss))
            evaluator?.let { c.setEvaluator(Measure(it)) }
            c.setListener(NativeNews(listener))
            return GoDevice(Mobile.newClient(c))
        }
    }
}

private class BlockLoss(private val loss: Loss) : BlockObjective {
    override fun loss(round: Round) = loss.loss(GoRound(round))
}

private class GoRound(private val round: Round) : RoundView {
    override val record get() = round.record()
    override val step get() = round.step().toInt()
    override val batchSize get() = round.batchSize().toInt()
    override val batchSeed get() = round.batchSeed()
    override val dim get() = round.dim().toInt()
    override val cancelled get() = round.cancelled()

    override fun read(offset: Int, into: ByteArray) = round.readParams(offset.toLong(), into).toInt()
}

private class Measure(private val evaluator: Evaluator) : zofl.mobile.Evaluator {
    override fun evaluate(e: Evaluation) = evaluator.evaluate(GoEvaluation(e))
}

private class GoEvaluation(private val evaluation: Evaluation) : EvaluationView {
    override val dim get() = evaluation.dim().toInt()
    override val cancelled get() = evaluation.cancelled()

    override fun read(offset: Int, into: ByteArray) = evaluation.readParams(offset.toLong(), into).toInt()

    override fun metric(value: Double) = evaluation.addMetric(value)

    override fun samples(n: Int) = evaluation.setSamples(n.toLong())
}

/** Passes news on. An empty text may arrive as null. */
private class NativeNews(private val listener: DeviceListener) : Listener {
    override fun onState(state: Long, reason: String?) =
        listener.onState(DeviceState.of(state.toInt()), reason.orEmpty())

    override fun onProgress(record: Long, last: Long, round: Long, contributions: Long, loss: Double) =
        listener.onProgress(record, last, round, contributions, loss)

    override fun onFault(code: String?, message: String?) = listener.onFault(code.orEmpty(), message.orEmpty())
}
