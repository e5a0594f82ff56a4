import java.io.File
import java.util.concurrent.atomic.AtomicInteger
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.mapNotNull
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.zofl.android.ConditionsHub
import org.zofl.android.DeviceConfig
import org.zofl.android.DeviceState
import org.zofl.android.Evaluator
import org.zofl.android.Limits
import org.zofl.android.Loss
import org.zofl.android.MemorySettings
import org.zofl.android.MemoryVault
import org.zofl.android.ModelFile
import org.zofl.android.NativeDevice
import org.zofl.android.Network
import org.zofl.android.Objective
import org.zofl.android.Outcome
import org.zofl.android.Power
import org.zofl.android.ServerTrust
import org.zofl.android.Settings
import org.zofl.android.StateFolder
import org.zofl.android.Training
import org.zofl.android.ZoflClient
import org.zofl.android.ZoflException
import org.zofl.android.open
import org.zofl.digits.DigitClassifier
import org.zofl.digits.DigitEvaluator
import org.zofl.digits.DigitLoss
import org.zofl.digits.DigitSet
import org.zofl.digits.DigitTask
import zofl.mobile.Mobile

/**
 * A simulated phone: the Android example's core with the real library. Settings are
 * name=value arguments. It prints events as JSON.
 */
private class Phone(private val arguments: Map<String, String>) {
    private val name = arguments.getValue("device")
    private val store = File(arguments.getValue("store"))
    private val mine = DigitSet.written(600, name.hashCode().toLong())
    private val strangers = DigitSet.writtenByMany(20, 5_000L..5_019L)
    private val config = DeviceConfig(
        run = arguments.getValue("run"), device = name, dim = DigitClassifier.DIM,
        servers = listOf(arguments.getValue("url")), ca = arguments["ca"], stateDir = store.path,
        samples = mine.size, limits = Limits(unmeteredOnly = false, chargingOnly = false, minBattery = 0),
        about = ABOUT, columns = listOf(floatArrayOf(1f, 100f), floatArrayOf(3f, 300f)),
    )

    /** Calls that read parameters in a shorter form than it promises. */
    private val wrong = AtomicInteger()

    private val evaluator = DigitEvaluator(strangers).let { digits ->
        Evaluator { evaluation ->
            if (!compact(evaluation)) wrong.incrementAndGet()
            digits.evaluate(evaluation)
        }
    }

    private suspend fun open(loss: Objective = DigitLoss(mine), config: DeviceConfig = this.config) =
        ZoflClient.open(config, arguments["credentials"], loss, evaluator)

    /** Nothing is sent to a server whose key is another, or that the platform does not trust. */
    suspend fun mistrust() {
        val distrusting = ServerTrust { chain -> error("${chain.certificates.size} of ${chain.host}") }
        for ((event, with) in listOf(
            "mispinned" to config.copy(pins = listOf(arguments.getValue("otherPin"))),
            "mistrusted" to config.copy(ca = null, trust = distrusting),
        )) {
            val client = open(config = with)
            val run = start { client.run() }
            val fault = client.progress.mapNotNull { it.fault }.first { it.code == "tls" } // a slow server is another
            run.cancelAndJoin()
            say(event, "class" to fault.javaClass.simpleName, "code" to fault.code, "detail" to fault.detail.lineSequence().first(),
                "record" to client.progress.value.record)
        }
    }

    /** First parameters reach native code, which counts them. */
    suspend fun misbegin() {
        try {
            open(config = config.copy(initial = FloatArray(3))).close()
        } catch (e: ZoflException.Settings) {
            say("misbegun", "code" to e.code, "detail" to e.detail)
        }
    }

    private fun accuracy(client: ZoflClient): Double =
        client.params()?.let { DigitClassifier().accuracy(it.values, strangers) } ?: 0.0

    /** Waits for contributions to [rounds] rounds, then cancels in the middle of a round. */
    suspend fun cancelInMidRound(rounds: Long) {
        val loss = DigitLoss(mine)
        val asked = java.util.concurrent.Semaphore(0)
        val client = open(Loss { round ->
            asked.release()
            if (round.step == 0 && !compact(round)) wrong.incrementAndGet()
            loss.loss(round)
        })
        val run = start { client.run() }
        client.progress.first { it.contributions >= rounds }
        asked.drainPermits()
        asked.acquireUninterruptibly() // a loss is being asked for
        run.cancelAndJoin()
        val p = client.progress.value
        val next = open().apply { load() } // which takes the folder
        say("canceled", "state" to client.state.name, "n" to (client.params()?.record ?: 0),
            "next" to (next.params()?.record ?: 0), "contributions" to p.contributions)
        next.close()
        val code = try {
            client.run()
            ""
        } catch (e: ZoflException.Stopped) {
            e.code
        }
        say("finished", "code" to code)
    }

    /** Two clients use one folder: the second is refused while the first runs. */
    suspend fun twoAtOnce() {
        val first = open()
        val run = start { first.run() }
        first.progress.first { it.state == DeviceState.WAITING || it.state == DeviceState.WORKING }
        val refused = try {
            open().run()
            ""
        } catch (e: ZoflException.Occupied) {
            e.code
        }
        run.cancelAndJoin()
        val second = open()
        second.load()
        say("second", "refused" to refused, "n" to (second.params()?.record ?: 0))
        second.close()
    }

    /** A worker's session within a budget, with all of the app's code around it. */
    suspend fun session() {
        val settings = MemorySettings(
            Settings(
                optedIn = true, server = config.servers.single(), run = config.run, ca = config.ca.orEmpty(),
                device = name, limits = config.limits,
            ),
        )
        val hub = ConditionsHub().apply {
            network(Network(connected = true, metered = false, id = 1))
            power(Power(charging = true, percent = 90))
        }
        val training = Training(
            DigitTask(), NativeDevice, settings, hub, MemoryVault(arguments["credentials"]), StateFolder(store.parentFile),
            ModelFile(File(store.parentFile, "model")), plaintext = false, about = ABOUT,
        )
        check(StateFolder(store.parentFile).of(config.run).path == store.path)
        val outcome = training.run(1.seconds, attempt = 0, byHand = false)
        say("session", "outcome" to outcome.javaClass.simpleName, "more" to (outcome is Outcome.More),
            "record" to settings.settings.value.report!!.record, "kept" to (training.model()?.record ?: 0))
    }

    /** Continues to the end of the run, with all losses of a step in one call, and with trust and a pin. */
    suspend fun finish() {
        val batch = DigitBatch(mine)
        val trust = HostTrust(arguments.getValue("ca"))
        val client = open(batch, config.copy(ca = null, trust = trust, pins = listOf(arguments.getValue("pin"))))
        client.load()
        say("loaded", "n" to (client.params()?.record ?: 0), "accuracy" to accuracy(client))
        client.run()
        val p = client.progress.value
        say("batch", *batch.seen.get().toList().toTypedArray(), "names" to client.segments.joinToString { it.name })
        say("end", "n" to client.params()!!.record, "digest" to client.digest()!!, "ended" to client.ended, "wrong" to wrong.get(),
            "contributions" to p.contributions, "accuracy" to accuracy(client),
            "sent" to p.traffic.sent, "received" to p.traffic.received)
        client.close()
    }
}

/** What the operator sees of this app. */
private const val ABOUT = "digits 1.0"

private fun start(what: suspend () -> Unit): Job = CoroutineScope(Dispatchers.Default).launch { what() }

/** Checks that every code of the library has an exception class. */
private fun codes() {
    val unknown = Mobile::class.java.fields.filter { it.name.startsWith("Code") }.map { it.get(null) as String }
        .filter { it !in setOf("fault", "panic") && ZoflException.of(it, "") is ZoflException.Internal }
    val states = Mobile::class.java.fields.filter { it.name.startsWith("State") }
        .filter { DeviceState.of((it.get(null) as Long).toInt()).name.replace("_", "") != it.name.removePrefix("State").uppercase() }
    say("codes", "unknown" to unknown.joinToString(), "states" to states.joinToString { it.name })
}

@Synchronized
private fun say(event: String, vararg values: Pair<String, Any>) {
    println("{\"event\":\"$event\"" + values.joinToString("") { (k, v) -> ",\"$k\":" + if (v is String) quoted(v) else "$v" } + "}")
    System.out.flush()
}

private fun quoted(text: String) = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""

fun main(args: Array<String>) {
    Thread.setDefaultUncaughtExceptionHandler { _, e ->
        e.printStackTrace()
        Runtime.getRuntime().halt(1) // Go's threads keep a JVM alive
    }
    val phone = Phone(args.associate { it.substringBefore('=') to it.substringAfter('=') })
    runBlocking {
        codes()
        phone.misbegin()
        phone.mistrust()
        phone.cancelInMidRound(rounds = 20)
        phone.twoAtOnce()
        phone.session()
        phone.finish()
    }
    exitProcess(0)
}
