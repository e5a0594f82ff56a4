package disktest

import "iter"

// Crashes calls run with an empty disk again and again, with the power going
// off after no change, after one, and so on until run makes no more, and each
// time yields every state that this may leave. Run must do the same each time,
// as far as the disk lets it.
func Crashes(run func(*Disk)) iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		for n := 0; ; n++ {
			d := New()
			d.CutAfter(n)
			run(d)
			for state := range d.States() {
				if !yield(state) {
					return
				}
			}
			if !d.Off() {
				return
			}
		}
	}
}

// Faults calls run with an empty disk again and again, of which the first
// operation fails with err, then the second and so on, and last none, and each
// time yields the disk as run has left it.
func Faults(err error, run func(*Disk)) iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		for n := 0; ; n++ {
			d := New()
			d.Fail(n, 1, err)
			run(d)
			last := d.Failing()
			if !yield(d) || last {
				return
			}
		}
	}
}
