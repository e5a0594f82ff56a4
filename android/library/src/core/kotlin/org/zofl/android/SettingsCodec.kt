package org.zofl.android

/** Settings as named texts, for preferences; null for a missing value. */
fun Settings.encode(): Map<String, String?> = mapOf(
    "optedIn" to optedIn.toString(),
    "server" to server,
    "run" to run,
    "ca" to ca,
    "device" to device,
    "unmeteredOnly" to limits.unmeteredOnly.toString(),
    "chargingOnly" to limits.chargingOnly.toString(),
    "minBattery" to limits.minBattery.toString(),
    "halted" to halted,
    "record" to report?.record?.toString(),
    "round" to report?.round?.toString(),
    "loss" to report?.loss?.toString(),
    "metrics" to report?.metrics?.entries?.joinToString("\n") { (name, value) -> "$name=$value" },
    "bytes" to report?.bytes?.toString(),
    "outcome" to report?.outcome,
    "deleting" to deleting.toString(),
)

/** The inverse of [encode]. A missing or unreadable value is as in a new installation. */
fun decodeSettings(text: (String) -> String?): Settings {
    val fresh = Settings()
    return Settings(
        optedIn = text("optedIn").toBoolean(),
        server = text("server").orEmpty(),
        run = text("run").orEmpty(),
        ca = text("ca").orEmpty(),
        device = text("device").orEmpty(),
        limits = Limits(
            unmeteredOnly = text("unmeteredOnly")?.toBoolean() ?: fresh.limits.unmeteredOnly,
            chargingOnly = text("chargingOnly")?.toBoolean() ?: fresh.limits.chargingOnly,
            minBattery = text("minBattery")?.toIntOrNull() ?: fresh.limits.minBattery,
        ),
        halted = text("halted"),
        report = text("outcome")?.let { outcome ->
            Report(
                record = text("record")?.toLongOrNull() ?: 0,
                round = text("round")?.toLongOrNull() ?: 0,
                loss = text("loss")?.toDoubleOrNull(),
                metrics = decodeMetrics(text("metrics").orEmpty()),
                bytes = text("bytes")?.toLongOrNull() ?: 0,
                outcome = outcome,
            )
        },
        deleting = text("deleting").toBoolean(),
    )
}

private fun decodeMetrics(lines: String): Map<String, Double> = buildMap {
    for (line in lines.lines()) {
        line.substringAfterLast('=').toDoubleOrNull()?.let { put(line.substringBeforeLast('='), it) }
    }
}
