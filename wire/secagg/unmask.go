package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/subtle"
	"iter"
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

// found reports whether the server has every secret that it needs. It tries to find those that it
// lacks. If a secret does not fit, found tries again with one share more, with two more, with four,
// and so on, and with all that can come, because each try takes time. With last, it tries all
// shares that it has.
func (s *Server) found(last bool) bool {
	if s.short > 0 {
		return false
	}
	var w weights
	all := true
	for i, need := range s.need {
		if need == nothing || s.secrets[i] != nil {
			continue
		}
		if s.tried[i] < s.have[i] && (last || s.due(i)) {
			w.doubt = w.doubt || s.tried[i] > 0 // with fewer shares, one was false
			s.tried[i] = s.have[i]
			s.secrets[i] = s.solve(i, &w)
		}
		all = all && s.secrets[i] != nil
	}
	return all
}

// due says whether enough shares of a secret came since the server last tried them.
func (s *Server) due(owner int) bool {
	more := s.have[owner] - s.threshold
	return s.tried[owner] == 0 || more&(more-1) == 0 ||
		s.have[owner] == s.holders(owner, s.in[StepUnmask])
}

// unfit returns the error that names a member whose secret the server did not find.
func (s *Server) unfit() error {
	for i, need := range s.need {
		if need != nothing && s.secrets[i] == nil {
			return blame(s.members[i], because(ErrForeign, "%d shares that do not fit", s.have[i]))
		}
	}
	panic("secagg: internal error: all secrets fit")
}

// unmask removes the masks from the sum.
func (s *Server) unmask() error {
	sum := slices.Clone(s.sum)
	for i, need := range s.need {
		switch need {
		case itsSeed:
			addMask(sum, s.seedKey(s.secrets[i], s.members[i]), true)
		case itsKey:
			if err := s.removePairs(sum, i, s.secrets[i]); err != nil {
				return err
			}
		}
	}
	s.sum = sum
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
// last weights, because xs are the same for most members. first is where a choice began that left
// out a false share.
type weights struct {
	xs, at0 []byte
	first   int
	doubt   bool // a share was false
}

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
		if !s.took[other] || !s.has(int(other), owner) {
			continue
		}
		at := keyLen * s.rank(int(other), owner, StepMask, true)
		xs, by = append(xs, byte(i+1)), append(by, other)
		shares = append(shares, laneOf(s.shares[other][at:]))
	}
	return xs, shares, by
}

// mostPairs bounds how many pairs of shares solve leaves out, because each try takes time.
const mostPairs = 256

// choices returns choices of t of n shares: consecutive ones from first on, where after the last
// share the first follows; then those from the next on, and so on. If there are few enough pairs,
// all but any two follow. So one of the choices lacks a false share, or two in a small round.
func choices(n, t, first int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		choice := make([]int, t)
		for k := range n {
			for i := range choice {
				choice[i] = (first + k + i) % n
			}
			if !yield(choice) || n == t {
				return
			}
		}
		if n < t+2 || n*(n-1)/2 > mostPairs {
			return
		}
		for a := range n {
			for b := range a {
				for i, at := 0, 0; i < t; at++ {
					if at != a && at != b {
						choice[i], i = at, i+1
					}
				}
				if !yield(choice) {
					return
				}
			}
		}
	}
}

// solve returns a member's secret from the first choice of shares that fits what the member
// published, or nil. If the first choice does not, solve notes which of the others are false.
func (s *Server) solve(owner int, w *weights) []byte {
	xs, shares, by := s.told(owner)
	n, t := len(xs), s.threshold
	chosen, some, clean := make([]byte, t), make([]lane, t), !w.doubt
	for choice := range choices(n, t, w.first%n) {
		for i, at := range choice {
			chosen[i], some[i] = xs[at], shares[at]
		}
		secret := combine(w.of(chosen), some).append(nil)
		if !s.fits(owner, secret) {
			clean = false
			continue
		}
		if clean {
			return secret
		}
		w.first, w.doubt = choice[0], true
		for i := range n {
			if !slices.Contains(choice, i) && combine(lagrange(chosen, xs[i]), some) != shares[i] {
				s.faults = append(s.faults, s.faultOf(owner, by[i:i+1]))
			}
		}
		return secret
	}
	return nil
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
