package org.zofl.android.app

/** Stands in for what AGP makes of res/, where typecheck.sh compiles without it. A test compares the names. */
object R {
    object string {
        const val app_name = 1
        const val opt_in = 2
        const val halted = 3
        const val train_now = 4
        const val waiting = 5
        const val training_now = 6
        const val stop = 7
        const val state = 8
        const val round = 9
        const val loss = 10
        const val bytes = 11
        const val last_session = 12
        const val accuracy = 13
        const val server = 14
        const val run = 15
        const val ca = 16
        const val credentials = 17
        const val save = 18
        const val delete = 19
        const val delete_explained = 20
        const val state_idle = 21
        const val state_offline = 22
        const val state_joining = 23
        const val state_catching_up = 24
        const val state_waiting = 25
        const val state_working = 26
        const val state_paused = 27
        const val state_ended = 28
        const val state_stopped = 29
    }
}
