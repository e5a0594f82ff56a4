package org.zofl.digits.app

/** Stands in for the class that AGP generates from res/, for robolectric.sh. A test compares the names. */
object R {
    object string {
        const val app_name = 1
        const val opt_in = 2
        const val halted = 3
        const val train_now = 4
        const val waiting = 5
        const val waiting_again = 6
        const val not_trained = 7
        const val training_now = 8
        const val stop = 9
        const val state = 10
        const val round = 11
        const val loss = 12
        const val bytes = 13
        const val last_session = 14
        const val accuracy = 15
        const val server = 16
        const val run = 17
        const val ca = 18
        const val credentials = 19
        const val save = 20
        const val delete = 21
        const val delete_explained = 22
        const val state_idle = 23
        const val state_offline = 24
        const val state_joining = 25
        const val state_catching_up = 26
        const val state_waiting = 27
        const val state_working = 28
        const val state_paused = 29
        const val state_ended = 30
        const val state_stopped = 31
    }
}
