package org.zofl.android

import java.io.File
import java.io.FileOutputStream
import java.io.IOException

/** Replaces a file atomically: after a crash it has either the old or the new content. */
internal fun writeWhole(file: File, bytes: ByteArray) {
    file.absoluteFile.parentFile?.mkdirs()
    val fresh = File(file.path + ".new")
    FileOutputStream(fresh).use {
        it.write(bytes)
        it.fd.sync()
    }
    if (!fresh.renameTo(file)) throw IOException("$fresh cannot be renamed to $file: free some storage")
}

/**
 * The checkpoints' folder, with a folder for each run, under [root]: in the app's own
 * files, outside backups. A second phone with a copy of a device's state would answer
 * rounds as the same device.
 */
class StateFolder(private val root: File) {
    fun of(run: String): File = File(root, run.map { if (it.isLetterOrDigit() || it in "-_") it else '_' }.joinToString(""))

    /** Deletes the state of all runs. No client may be using it. */
    fun delete() {
        if (root.exists() && !root.deleteRecursively()) {
            throw IOException("$root cannot be deleted completely: stop training and try again")
        }
    }
}

/** Stores the trained model for predictions, apart from checkpoints: reading it needs no native code. */
class ModelFile(private val file: File) {
    fun store(model: Model) {
        val bytes = java.nio.ByteBuffer.allocate(Long.SIZE_BYTES + Float.SIZE_BYTES * model.values.size)
        bytes.putLong(model.record)
        bytes.asFloatBuffer().put(model.values)
        writeWhole(file, bytes.array())
    }

    /** The model, or null if none with [dim] parameters is stored. */
    fun load(dim: Int): Model? {
        if (file.length() != (Long.SIZE_BYTES + Float.SIZE_BYTES * dim).toLong()) return null
        val bytes = java.nio.ByteBuffer.wrap(file.readBytes())
        val record = bytes.getLong()
        return Model(record, FloatArray(dim).also { bytes.asFloatBuffer().get(it) })
    }

    fun delete() {
        if (file.exists() && !file.delete()) throw IOException("$file cannot be deleted: try again")
    }
}
