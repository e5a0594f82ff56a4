package org.zofl.android

import zofl.mobile.Evaluation
import zofl.mobile.Round

internal class NativeRound(private val round: Round) : RoundView {
    override val record get() = round.record()
    override val step get() = round.step().toInt()
    override val batchSize get() = round.batchSize().toInt()
    override val batchSeed get() = round.batchSeed()
    override val dim get() = round.dim().toInt()
    override val cancelled get() = round.cancelled()

    override fun read(offset: Int, into: ByteArray) = round.readParams(offset.toLong(), into).toInt()
}

internal class NativeEvaluation(private val evaluation: Evaluation) : EvaluationView {
    override val dim get() = evaluation.dim().toInt()
    override val cancelled get() = evaluation.cancelled()

    override fun read(offset: Int, into: ByteArray) = evaluation.readParams(offset.toLong(), into).toInt()

    override fun metric(value: Double) = evaluation.addMetric(value)

    override fun samples(n: Int) = evaluation.setSamples(n.toLong())
}
