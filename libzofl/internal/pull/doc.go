// Package pull turns package client around: the app asks for the next loss, where package client
// calls the app. Library libzofl hands its calls to C.
//
// A [Device] runs a client on a goroutine of its own. The client's call for the losses of a local
// step becomes a task, which waits until the app has answered all its points, has declined it, or
// the round is over. [Open] gives each Device a number, and [Find] returns the Device of a number:
// C never holds a pointer of Go.
//
// Every error has a code of libzofl.h: see [Of].
package pull
