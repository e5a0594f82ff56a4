package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/subtle"
	"slices"
)

// An ownKey finds public keys that no honest device sends: keys of low order, and keys that another
// member sent before.
type ownKey struct {
	private *ecdh.PrivateKey
	seen    map[string]bool
}

func newOwnKey(id []byte) *ownKey {
	return &ownKey{privateKey(derive(id, id, "check")), map[string]bool{}}
}

// use returns an error for keys of low order, and for keys that another member sent before.
func (c *ownKey) use(keys []byte) error {
	seal, mask := keys[:keyLen], keys[keyLen:2*keyLen]
	for _, key := range [][]byte{seal, mask} {
		if _, err := agree(c.private, key); err != nil {
			return err
		}
	}
	if c.seen[string(seal)] || c.seen[string(mask)] || bytes.Equal(seal, mask) {
		return because(ErrForeign, "it has the keys of another one")
	}
	c.seen[string(seal)], c.seen[string(mask)] = true, true
	return nil
}

// unmask removes the masks from the sum.
func (s *Server) unmask() error {
	sum, liars := slices.Clone(s.sum), slices.Clone(s.liars)
	var w weights
	for i, need := range s.need {
		if need == nothing {
			continue
		}
		secret, err := s.solve(i, &w, liars)
		if err != nil {
			return err
		}
		if need == itsSeed {
			addMask(sum, s.seedKey(secret, s.members[i]), true)
		} else if err := s.removePairs(sum, i, secret); err != nil {
			return err
		}
	}
	s.sum, s.liars = sum, liars
	return nil
}

// removePairs removes the masks that neighbors share with a member that left.
func (s *Server) removePairs(sum []uint32, gone int, secret []byte) error {
	own, slot := privateKey(secret), s.members[gone]
	for _, i := range s.hoods[gone] {
		if !s.sent[i] {
			continue
		}
		key, err := s.maskKey(own, s.keys[i][keyLen:2*keyLen], slot, s.members[i])
		if err != nil {
			return blame(s.members[i], err)
		}
		addMask(sum, key, slot > s.members[i])
	}
	return nil
}

// weights are the Lagrange weights of the values at xs for the value at 0. The server keeps the
// last weights, because xs are the same for most members.
type weights struct{ xs, at0 []byte }

func (w *weights) of(xs []byte) []byte {
	if !bytes.Equal(w.xs, xs) {
		w.xs, w.at0 = slices.Clone(xs), lagrange(xs, 0)
	}
	return w.at0
}

// told returns the shares of a member's secret that the server received: their points x, their
// values, and the members that sent the shares.
func (s *Server) told(owner int) (xs []byte, shares []lane, by []int32) {
	for i, other := range s.hoods[owner] {
		if !s.took[other] {
			continue
		}
		at := keyLen * s.rank(int(other), owner, StepMask, true)
		xs, by = append(xs, byte(i+1)), append(by, other)
		shares = append(shares, laneOf(s.shares[other][at:]))
	}
	return xs, shares, by
}

// solve returns a member's secret from the first shares that fit what the member published. solve
// tries every threshold-long window of consecutive shares; after the last share the first follows.
// So solve finds the secret although one share, or several consecutive shares, may be false.
func (s *Server) solve(owner int, w *weights, liars []bool) ([]byte, error) {
	xs, shares, by := s.told(owner)
	n, t := len(xs), s.threshold
	xs, shares = append(xs, xs[:t-1]...), append(shares, shares[:t-1]...)
	for first := range n {
		window := xs[first : first+t]
		secret := combine(w.of(window), shares[first:first+t]).append(nil)
		if !s.fits(owner, secret) {
			continue
		}
		for i := range n {
			if first > 0 && combine(lagrange(window, xs[i]), shares[first:first+t]) != shares[i] {
				liars[by[i]] = true
			}
		}
		return secret, nil
	}
	return nil, blame(s.members[owner], because(ErrForeign, "%d shares that do not fit", n))
}

// fits reports whether a secret fits what its owner published: the commitment to its seed, or its
// public key.
func (s *Server) fits(owner int, secret []byte) bool {
	public, commit := s.keys[owner][keyLen:2*keyLen], s.keys[owner][2*keyLen:2*keyLen+commitLen]
	if s.need[owner] == itsSeed {
		return subtle.ConstantTimeCompare(s.commit(secret, s.members[owner]), commit) == 1
	}
	return bytes.Equal(privateKey(secret).PublicKey().Bytes(), public)
}
