package org.zofl.android

import java.security.GeneralSecurityException
import javax.crypto.AEADBadTagException
import javax.crypto.Cipher
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec

/** Holds the key of a [GcmSeal]: Android's Keystore in the app. */
interface KeySource {
    /** The key, generated if there is none. */
    fun key(): SecretKey

    fun forget()
}

/**
 * Seals bytes with AES-GCM: version, nonce, ciphertext with tag. The cipher chooses the
 * nonce, because the Keystore allows no other.
 */
class GcmSeal(private val keys: KeySource) {
    fun seal(plain: ByteArray): ByteArray {
        val cipher = Cipher.getInstance(TRANSFORMATION).apply { init(Cipher.ENCRYPT_MODE, keys.key()) }
        check(cipher.iv.size == NONCE) { "nonce of ${cipher.iv.size} bytes, want $NONCE" }
        return byteArrayOf(VERSION) + cipher.iv + cipher.doFinal(plain)
    }

    /** Throws [GeneralSecurityException] for bytes that this key did not seal. */
    fun open(sealed: ByteArray): ByteArray {
        if (sealed.size < 1 + NONCE + TAG_BITS / 8 || sealed[0] != VERSION) {
            throw AEADBadTagException("${sealed.size} bytes are not sealed by this version")
        }
        val cipher = Cipher.getInstance(TRANSFORMATION)
        cipher.init(Cipher.DECRYPT_MODE, keys.key(), GCMParameterSpec(TAG_BITS, sealed, 1, NONCE))
        return cipher.doFinal(sealed, 1 + NONCE, sealed.size - 1 - NONCE)
    }

    fun forget() = keys.forget()

    private companion object {
        const val TRANSFORMATION = "AES/GCM/NoPadding"
        const val VERSION: Byte = 1
        const val NONCE = 12
        const val TAG_BITS = 128
    }
}
