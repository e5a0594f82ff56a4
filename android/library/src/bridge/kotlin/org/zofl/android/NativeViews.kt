package org.zofl.android

import java.io.ByteArrayInputStream
import java.nio.ByteBuffer
import java.security.cert.CertificateFactory
import java.security.cert.X509Certificate
import kotlin.time.Duration.Companion.milliseconds
import zofl.mobile.Chain
import zofl.mobile.Client
import zofl.mobile.Direct
import zofl.mobile.Evaluation
import zofl.mobile.Plan as NativePlan
import zofl.mobile.Probes
import zofl.mobile.Round
import zofl.mobile.Scaler as NativeScaler

internal class NativeRound(private val round: Round, segments: () -> List<Segment>) : RoundView {
    override val record get() = round.record()
    override val step get() = round.step().toInt()
    override val batchSize get() = round.batchSize().toInt()
    override val batchSeed get() = round.batchSeed()
    override val dim get() = round.dim().toInt()
    override val cancelled get() = round.cancelled()
    override val remaining get() = round.remainingMilliseconds().milliseconds
    override val segments by lazy(segments)
    override val scaler by lazy { round.plan()?.scaler()?.toScaler() }

    override fun read(offset: Int, into: ByteArray) = round.readParams(offset.toLong(), into).toInt()

    override fun read(offset: Int, into: ByteBuffer) =
        Direct.readParams(round, offset.toLong(), into).toInt()

    override fun readHalf(offset: Int, into: ByteArray) = round.readHalf(offset.toLong(), into).toInt()

    override fun readInt8(offset: Int, scale: Double, into: ByteArray) =
        round.readInt8(offset.toLong(), scale, into).toInt()

    override fun readHalf(offset: Int, into: ByteBuffer) =
        Direct.readHalf(round, offset.toLong(), into).toInt()

    override fun readInt8(offset: Int, scale: Double, into: ByteBuffer) =
        Direct.readInt8(round, offset.toLong(), scale, into).toInt()
}

internal class NativeStep(private val native: Probes, segments: () -> List<Segment>) : StepView {
    override val probes get() = native.count().toInt()
    override val record get() = native.record()
    override val step get() = native.step().toInt()
    override val batchSize get() = native.batchSize().toInt()
    override val batchSeed get() = native.batchSeed()
    override val dim get() = native.dim().toInt()
    override val cancelled get() = native.cancelled()
    override val remaining get() = native.remainingMilliseconds().milliseconds
    override val segments by lazy(segments)
    override val scaler by lazy { native.plan()?.scaler()?.toScaler() }

    override fun read(probe: Int, offset: Int, into: ByteArray) =
        native.readParams(probe.toLong(), offset.toLong(), into).toInt()

    override fun readHalf(probe: Int, offset: Int, into: ByteArray) =
        native.readHalf(probe.toLong(), offset.toLong(), into).toInt()

    override fun readInt8(probe: Int, offset: Int, scale: Double, into: ByteArray) =
        native.readInt8(probe.toLong(), offset.toLong(), scale, into).toInt()

    override fun readAll(offset: Int, count: Int, into: ByteArray) =
        native.readAll(offset.toLong(), count.toLong(), into).toInt()

    override fun read(probe: Int, offset: Int, into: ByteBuffer) =
        Direct.readParams(native, probe.toLong(), offset.toLong(), into).toInt()

    override fun readHalf(probe: Int, offset: Int, into: ByteBuffer) =
        Direct.readHalf(native, probe.toLong(), offset.toLong(), into).toInt()

    override fun readInt8(probe: Int, offset: Int, scale: Double, into: ByteBuffer) =
        Direct.readInt8(native, probe.toLong(), offset.toLong(), scale, into).toInt()

    override fun readAll(offset: Int, count: Int, into: ByteBuffer) =
        Direct.readAll(native, offset.toLong(), count.toLong(), into).toInt()

    override fun loss(probe: Int, value: Double) = native.setLoss(probe.toLong(), value)
}

internal class NativeEvaluation(
    private val evaluation: Evaluation, segments: () -> List<Segment>,
) : EvaluationView {
    override val dim get() = evaluation.dim().toInt()
    override val cancelled get() = evaluation.cancelled()
    override val remaining get() = evaluation.remainingMilliseconds().milliseconds
    override val segments by lazy(segments)
    override val scaler by lazy { evaluation.plan()?.scaler()?.toScaler() }

    override fun read(offset: Int, into: ByteArray) = evaluation.readParams(offset.toLong(), into).toInt()

    override fun read(offset: Int, into: ByteBuffer) =
        Direct.readParams(evaluation, offset.toLong(), into).toInt()

    override fun readHalf(offset: Int, into: ByteArray) = evaluation.readHalf(offset.toLong(), into).toInt()

    override fun readInt8(offset: Int, scale: Double, into: ByteArray) =
        evaluation.readInt8(offset.toLong(), scale, into).toInt()

    override fun readHalf(offset: Int, into: ByteBuffer) =
        Direct.readHalf(evaluation, offset.toLong(), into).toInt()

    override fun readInt8(offset: Int, scale: Double, into: ByteBuffer) =
        Direct.readInt8(evaluation, offset.toLong(), scale, into).toInt()

    override fun metric(value: Double) = evaluation.addMetric(value)

    override fun samples(n: Int) = evaluation.setSamples(n.toLong())
}

internal fun Client.segments(): List<Segment> = plan()?.list().orEmpty()

internal fun NativeScaler.toScaler() = columns().toInt().let { n ->
    Scaler(DoubleArray(n) { mean(it.toLong()) }, DoubleArray(n) { std(it.toLong()) })
}

private fun NativePlan.list() = (0 until segments()).map { i ->
    segment(i).run { Segment(name(), offset().toInt(), length().toInt()) }
}

internal fun NativePlan.toPlan() = Plan(
    dim = dim(), steps = steps(), queries = queries(), batchSize = batchSize(),
    deadline = deadlineMilliseconds().milliseconds, memory = memory(), isPrivate = private_(),
    segments = list(),
)

internal fun Chain.toServerChain(): ServerChain {
    val factory = CertificateFactory.getInstance("X.509")
    val list = (0 until len()).map { i ->
        factory.generateCertificate(ByteArrayInputStream(certificate(i))) as X509Certificate
    }
    return ServerChain(list, authType(), host())
}
