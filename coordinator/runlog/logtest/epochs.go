package logtest

import "github.com/zofl/zofl/coordinator/runlog"

// epochs returns the log as an Epochs. If the log is no Epochs, epochs ends the check.
func (s *scene) epochs(log runlog.Log) runlog.Epochs {
	epochs, ok := log.(runlog.Epochs)
	if !ok {
		s.failf("%T is no runlog.Epochs: set Config.NoEpochs, if it is not meant to be", log)
	}
	return epochs
}

// LastEpoch is the epoch that the last Begin returned, also after the log is opened again.
func checkLastEpoch(s *scene) {
	last := uint64(0)
	for range 3 {
		log := s.log()
		got, err := s.epochs(log).LastEpoch(s.ctx)
		s.ok(err, "LastEpoch")
		if got != last {
			s.failf("LastEpoch() = %d, Begin returned %d", got, last)
		}
		last = s.begin(log)
		got, err = s.epochs(log).LastEpoch(s.ctx)
		s.ok(err, "LastEpoch")
		if got != last {
			s.failf("LastEpoch() = %d after Begin returned %d", got, last)
		}
		s.close(log)
	}
}

// After PassEpochs, every Begin returns an epoch larger than last. PassEpochs with a smaller epoch
// changes nothing.
func checkPassEpochs(s *scene) {
	log, epoch := s.led()
	s.ok(s.epochs(log).PassEpochs(s.ctx, epoch+30), "PassEpochs")
	s.ok(s.epochs(log).PassEpochs(s.ctx, epoch+3), "PassEpochs of less")
	s.close(log)
	log, next := s.led()
	if next <= epoch+30 {
		s.failf("Begin() = %d after PassEpochs(%d)", next, epoch+30)
	}
	s.ok(s.epochs(log).PassEpochs(s.ctx, next+7), "PassEpochs")
	if again := s.begin(log); again <= next+7 {
		s.failf("Begin() = %d after PassEpochs(%d)", again, next+7)
	}
}
