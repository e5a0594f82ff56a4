package secagg

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// A Device is one member's part in one round. A Device keeps the round's keys only in memory, so a
// device that restarts is out of the round. A Device is not safe for concurrent use.
//
// Invariant: a Device answers each step for only one content. So a Device never gives both shares
// of a neighbor, nor two vectors under one mask.
type Device struct {
	*setting
	me     uint32
	self   int      // the index of me in hood
	hood   []uint32 // slots of the neighborhood, me included, ascending
	secret []byte

	seal, mask *ecdh.PrivateKey
	seed       []byte
	random     []byte // the key of the coefficients

	peers   []*peer // by index in hood; nil for devices that are out
	shared  []bool  // members whose shares came, me included
	sent    []bool  // members whose vectors came; with Agree, known before StepUnmask
	lists   []byte  // shared, and then sent, as bits
	refused []uint32
	answers [StepAgree + 1]*answer
}

// A peer is a neighbor that sent keys.
type peer struct {
	seal, mask []byte // public keys
	secret     []byte // of the seal keys
	share      []byte // shares of its mask key and of its seed
}

// An answer is what the device answered in a step, and the bytes to which it answered.
type answer struct {
	given [32]byte
	bytes []byte
}

// NewDevice returns the device with the given slot in a round. All its keys derive from 32 bytes of
// random, which is crypto/rand.Reader outside tests. secret, at least 16 bytes, is known to all
// devices of the run but not to the coordinator. Either all devices have it, or all give nil;
// rounds with Agree need it. Errors: [ErrRound], and the errors of random.
func NewDevice(r Round, slot uint32, random io.Reader, secret []byte) (*Device, error) {
	s, err := r.check()
	if err != nil {
		return nil, fmt.Errorf("secagg: %w", err)
	}
	member, found := slices.BinarySearch(s.members, slot)
	if !found {
		return nil, fmt.Errorf("secagg: %w: slot %d is no member", ErrRound, slot)
	}
	if n := len(secret); n < 16 && (n > 0 || r.Agree) {
		return nil, fmt.Errorf("secagg: %w: a secret of %d bytes, want 16, or none without Agree",
			ErrRound, n)
	}
	source := make([]byte, 32)
	if _, err := io.ReadFull(random, source); err != nil {
		return nil, fmt.Errorf("secagg: no random bytes: %w", err)
	}
	d := &Device{setting: s, me: slot, secret: slices.Clone(secret),
		seal:   privateKey(derive(source, s.id[:], "seal key", slot)),
		mask:   privateKey(derive(source, s.id[:], "mask key", slot)),
		seed:   derive(source, s.id[:], "seed", slot),
		random: derive(source, s.id[:], "coefficients", slot)}
	for i, member := range s.hood(s.ring(), member) {
		if d.hood = append(d.hood, s.members[member]); d.hood[i] == slot {
			d.self = i
		}
	}
	return d, nil
}

// answer returns what make returns. If the same given bytes came before in this step, the result is
// the same answer again.
func (d *Device) answer(step Step, given []byte, make func() ([]byte, error)) ([]byte, error) {
	hash := sha256.Sum256(given)
	if before := d.answers[step]; before != nil {
		if before.given != hash {
			return nil, fmt.Errorf("secagg: %s: %w", step, ErrConflict)
		}
		return slices.Clone(before.bytes), nil
	}
	if before, some := d.before(step); some && d.answers[before] == nil {
		return nil, fmt.Errorf("secagg: %s: %w: answer %s first", step, ErrStep, before)
	}
	b, err := make()
	if err != nil {
		return nil, fmt.Errorf("secagg: %s: %w", step, err)
	}
	d.answers[step] = &answer{hash, b}
	return slices.Clone(b), nil
}

// Keys returns the answer to StepKeys, 96 bytes: two public X25519 keys, a commitment to the seed
// of the device's own mask, and a tag of the keys under the devices' secret.
func (d *Device) Keys() []byte {
	b, err := d.answer(StepKeys, nil, func() ([]byte, error) {
		public := append(d.seal.PublicKey().Bytes(), d.mask.PublicKey().Bytes()...)
		b := append(slices.Clone(public), d.commit(d.seed, d.me)...)
		return append(b, d.tag(d.secret, keyTag, d.me, public)...), nil
	})
	if err != nil {
		panic(err) // it depends on nothing
	}
	return b
}

// Shares returns the answer to StepShares: for each neighbor that sent keys, by ascending slot, 80
// bytes that only the neighbor can open: Shamir's shares of the mask key and of the seed. Errors:
// [ErrThreshold], [ErrMalformed], [ErrConflict], [ErrStep], and an [Error] with [ErrForeign] that
// names a neighbor whose keys were made without the secret, or by another device.
func (d *Device) Shares(given []byte) ([]byte, error) {
	return d.answer(StepShares, given, func() ([]byte, error) {
		present, rest, err := d.present(given, peerLen)
		if err != nil {
			return nil, err
		}
		peers, err := d.readPeers(present, rest)
		if err != nil {
			return nil, err
		}
		d.peers = peers
		return d.sealShares(), nil
	})
}

// present reads the list of the members of the neighborhood that sent something. rest holds the
// bytes after the list: "each" bytes for every listed member but the device itself.
func (d *Device) present(given []byte, each int) (present []bool, rest []byte, err error) {
	n := (len(d.hood) + 7) / 8
	if len(given) < n {
		return nil, nil, because(ErrMalformed, "%d bytes, want at least %d", len(given), n)
	}
	count := 0
	present = make([]bool, len(d.hood))
	for i := range present {
		if present[i] = given[i/8]>>(i%8)&1 != 0; present[i] {
			count++
		}
	}
	for i := len(present); i < 8*n; i++ {
		if given[i/8]>>(i%8)&1 != 0 {
			return nil, nil, because(ErrMalformed, "%d devices, want %d", i+1, len(d.hood))
		}
	}
	switch rest = given[n:]; {
	case !present[d.self]:
		return nil, nil, because(ErrForeign, "slot %d is said to be out", d.me)
	case count < d.threshold:
		return nil, nil, because(ErrThreshold, "%d of %d", count, d.threshold)
	case len(rest) != each*(count-1):
		return nil, nil, because(ErrMalformed, "%d bytes for %d devices, want %d", len(rest),
			count-1, each*(count-1))
	}
	return present, rest, nil
}

// readPeers reads the keys of neighbors, and checks that the neighbors that made the keys have the
// secret.
func (d *Device) readPeers(present []bool, rest []byte) ([]*peer, error) {
	peers := make([]*peer, len(d.hood))
	seen := map[string]bool{
		string(d.seal.PublicKey().Bytes()): true, string(d.mask.PublicKey().Bytes()): true}
	for i, slot := range d.hood {
		if i == d.self || !present[i] {
			continue
		}
		var b []byte
		b, rest = slices.Clone(rest[:peerLen]), rest[peerLen:]
		public, tag := b[:2*keyLen], b[2*keyLen:]
		p := &peer{seal: public[:keyLen], mask: public[keyLen:]}
		if !hmac.Equal(tag, d.tag(d.secret, keyTag, slot, public)) {
			return nil, blame(slot, because(ErrForeign, "the tag of its keys"))
		}
		if seen[string(p.seal)] || seen[string(p.mask)] {
			return nil, blame(slot, because(ErrForeign, "it has the keys of another one"))
		}
		seen[string(p.seal)], seen[string(p.mask)] = true, true
		var err error
		if p.secret, err = agree(d.seal, p.seal); err != nil {
			return nil, blame(slot, err)
		}
		peers[i] = p
	}
	return peers, nil
}

// sealShares returns the sealed shares for the neighbors. The device keeps only a share of its own
// seed, and no share of its own mask key.
func (d *Device) sealShares() (boxes []byte) {
	coefficients := make([]byte, 2*keyLen*(d.threshold-1))
	newStream(d.random).XORKeyStream(coefficients, coefficients)
	ofKey, ofSeed := make([]lane, d.threshold-1), make([]lane, d.threshold-1)
	for i := range ofKey {
		ofKey[i], ofSeed[i] = laneOf(coefficients[2*keyLen*i:]), laneOf(coefficients[2*keyLen*i+keyLen:])
	}
	key, seed := laneOf(d.mask.Bytes()), laneOf(d.seed)
	own := &peer{share: make([]byte, 2*keyLen)}
	for i, slot := range d.hood {
		x := byte(i + 1)
		if i == d.self {
			own.share = append(own.share[:keyLen], share(seed, ofSeed, x).append(nil)...)
		} else if p := d.peers[i]; p != nil {
			b := share(key, ofKey, x).append(nil)
			b = share(seed, ofSeed, x).append(b)
			boxes = d.box(p.secret, d.me, slot).Seal(boxes, nonce, b, nil)
		}
	}
	d.peers[d.self] = own
	return boxes
}

// Mask returns the answer to StepMask, 4 bytes a word, little-endian: the values plus the device's
// own mask, plus the masks shared with later neighbors, minus the masks shared with earlier
// neighbors. With Agree, 16 bytes follow: a tag of the list that the server gave the device. Mask
// copies values. See [Device.Refused] for boxes that do not open. Errors: [ErrThreshold],
// [ErrMalformed], [ErrConflict], [ErrStep], and an [Error] that names a neighbor whose box does not
// open, if fewer than the threshold do.
func (d *Device) Mask(given []byte, values []uint32) ([]byte, error) {
	if len(values) != d.words {
		return nil, fmt.Errorf("secagg: mask: %w: %d values, want %d", ErrMalformed, len(values),
			d.words)
	}
	asked := slices.Clone(given)
	for _, v := range values {
		asked = binary.LittleEndian.AppendUint32(asked, v)
	}
	return d.answer(StepMask, asked, func() ([]byte, error) {
		present, rest, err := d.present(given, boxLen)
		if err != nil {
			return nil, err
		}
		if err := d.openShares(present, rest); err != nil {
			return nil, err
		}
		d.shared, d.lists = present, d.bits(given)
		b, err := d.masked(slices.Clone(values))
		if err == nil && d.agree {
			b = append(b, d.tag(d.secret, sharedTag, d.me, d.lists)...)
		}
		return b, err
	})
}

// bits returns the list at the beginning of the given bytes.
func (d *Device) bits(given []byte) []byte { return slices.Clone(given[:(len(d.hood)+7)/8]) }

// openShares opens the boxes of the present neighbors. It goes on without a few of the shares.
func (d *Device) openShares(present []bool, boxes []byte) (err error) {
	d.refused = nil
	opened := 1 // the device's own
	for i, p := range d.peers {
		switch {
		case i == d.self || !present[i]:
			continue
		case p == nil:
			return blame(d.hood[i], because(ErrForeign, "shares from who sent no keys"))
		}
		box := d.box(p.secret, d.hood[i], d.me)
		if p.share, err = box.Open(nil, nonce, boxes[:boxLen], nil); err != nil {
			p.share = make([]byte, 2*keyLen)
			d.refused = append(d.refused, d.hood[i])
		} else {
			opened++
		}
		boxes = boxes[boxLen:]
	}
	if opened < d.threshold {
		return blame(d.refused[0], because(ErrForeign, "a share that does not open"))
	}
	return nil
}

// Refused returns the slots of the neighbors whose boxes did not open in StepMask, ascending. The
// device has zeros in place of their shares. It tells the server with its answer, see [Refusal].
func (d *Device) Refused() []uint32 { return slices.Clone(d.refused) }

func (d *Device) masked(words []uint32) ([]byte, error) {
	addMask(words, d.seedKey(d.seed, d.me), false)
	for i, p := range d.peers {
		if i == d.self || !d.shared[i] {
			continue
		}
		key, err := d.maskKey(d.mask, p.mask, d.me, d.hood[i])
		if err != nil {
			return nil, blame(d.hood[i], err)
		}
		addMask(words, key, d.hood[i] < d.me)
	}
	b := make([]byte, 0, 4*len(words))
	for _, word := range words {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	return b, nil
}

// Unmask returns the answer to StepUnmask: 32 bytes for each member of the neighborhood whose
// shares came, by ascending slot. The 32 bytes are the share of the member's seed if the member
// sent its masked vector, otherwise the share of the member's mask key; never both. Errors:
// [ErrThreshold], with Agree also if too few devices have the same lists; [ErrMalformed],
// [ErrConflict], [ErrStep], and an [Error] with [ErrForeign] that names a device which cannot have
// sent a vector.
func (d *Device) Unmask(given []byte) ([]byte, error) {
	return d.answer(StepUnmask, given, func() ([]byte, error) {
		sent, err := d.sent, d.agreed(given)
		if !d.agree {
			sent, _, err = d.whoSent(given, 0)
		}
		if err != nil {
			return nil, err
		}
		var b []byte
		for i, p := range d.peers {
			if sent[i] {
				b = append(b, p.share[keyLen:]...)
			} else if d.shared[i] {
				b = append(b, p.share[:keyLen]...)
			}
		}
		return b, nil
	})
}

// whoSent reads the list of the devices that sent vectors, and returns the bytes after the list.
func (d *Device) whoSent(given []byte, each int) (sent []bool, rest []byte, err error) {
	sent, rest, err = d.present(given, each)
	for i := range sent {
		if err == nil && sent[i] && !d.shared[i] {
			err = blame(d.hood[i], because(ErrForeign, "a vector from who is out"))
		}
	}
	return sent, rest, err
}
