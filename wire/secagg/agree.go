package secagg

import "crypto/hmac"

// In rounds with Agree, devices check that the server told all of them the same lists. With its
// vector a device sends a tag of the list that it used for its masks. In StepAgree the device gets
// the list of the devices that sent vectors, and the tags of these devices. The device continues
// only if all of them used the same list as the device itself. Then the device sends a tag of both
// lists. A device gives shares only after it saw tags of the same two lists from as many devices as
// the threshold, the device itself included. The threshold is more than half of the members, so at
// most one pair of lists can reach it.

// before returns the step that comes before step, if there is one.
func (s *setting) before(step Step) (before Step, some bool) {
	switch {
	case step == StepKeys:
		return step, false
	case step == StepAgree || step == StepUnmask && !s.agree:
		return StepMask, true
	case step == StepUnmask:
		return StepAgree, true
	}
	return step - 1, true
}

// after returns the step that comes after step.
func (s *setting) after(step Step) Step {
	switch {
	case step == StepMask && s.agree:
		return StepAgree
	case step == StepAgree:
		return StepUnmask
	}
	return step + 1
}

// Agree returns the answer to StepAgree, 16 bytes. Errors: [ErrThreshold], [ErrMalformed],
// [ErrConflict], [ErrStep], and an [Error] with [ErrForeign] that names a device which got another
// list in StepMask, or cannot have sent a vector.
func (d *Device) Agree(given []byte) ([]byte, error) {
	return d.answer(StepAgree, given, func() ([]byte, error) {
		if !d.agree {
			return nil, because(ErrStep, "this round has no such step")
		}
		sent, rest, err := d.whoSent(given, tagLen)
		if err != nil {
			return nil, err
		}
		same := d.tagged(sent, rest, sharedTag)
		for i := range sent {
			if sent[i] && !same[i] {
				return nil, blame(d.hood[i], because(ErrForeign, "it was told another list"))
			}
		}
		d.sent, d.lists = sent, append(d.lists, d.bits(given)...)
		return d.tag(d.secret, sentTag, d.me, d.lists), nil
	})
}

// agreed returns an error unless enough devices have the same lists as this device.
func (d *Device) agreed(given []byte) error {
	if !d.agree {
		return nil
	}
	present, rest, err := d.present(given, tagLen)
	if err != nil {
		return err
	}
	count := 0
	for _, same := range d.tagged(present, rest, sentTag) {
		if same {
			count++
		}
	}
	if count < d.threshold {
		return because(ErrThreshold, "%d of %d were told the same lists", count, d.threshold)
	}
	return nil
}

// tagged says which of the present devices sent a tag of the lists that this device has. This
// device counts as such a device.
func (d *Device) tagged(present []bool, tags []byte, purpose string) []bool {
	same := make([]bool, len(present))
	for i, slot := range d.hood {
		switch {
		case i == d.self:
			same[i] = true
		case present[i]:
			same[i] = hmac.Equal(tags[:tagLen], d.tag(d.secret, purpose, slot, d.lists))
			tags = tags[tagLen:]
		}
	}
	return same
}
