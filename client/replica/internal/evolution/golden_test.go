package evolution

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// TestGolden: after 50 records whose losses are written numbers, the state has the bits that a
// replay in plain Python floats, written apart, gave.
func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		name       string
		d, lambda  int
		covariance plan.Covariance
		digest     string
	}{
		{"full", 6, 9, plan.FullCovariance,
			"5204e3d612136c0737fff67e650738a3a14c4dbd33f931b43e81b993beb5f2eb"},
		{"limited", 100, 17, plan.LimitedCovariance,
			"70699cf2b89071d571aa797de54419b2a393e8e752d8dd5774311f6832284787"},
	} {
		p := &plan.Plan{Dim: uint64(tt.d)}
		p.StepSize, p.ServerRule, p.Covariance = 0.3, plan.ServerCMA, tt.covariance
		x, ring := make([]float32, tt.d), prng.NewKeyring([]byte("cma"))
		s := New(p, x, nil)
		s.Sigma = 0.3 // not that of float32
		losses := make([]float32, tt.lambda)
		for n := 1; n <= 50; n++ {
			for k := range losses {
				losses[k] = float32((7*(k+1) + 3*n) % tt.lambda)
			}
			s.Apply(prng.Direction{Key: ring.Key(uint64(n)), Dist: prng.Normal}, uint32(tt.lambda), losses)
		}
		var b []byte
		b, _ = binary.Append(b, binary.LittleEndian, x)
		for _, v := range s.Vectors() {
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
		b, _ = binary.Append(b, binary.LittleEndian, s.Sigma)
		if s.limited {
			b, _ = binary.Append(b, binary.LittleEndian, s.Records)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != tt.digest {
			t.Errorf("%s: %x, want %s; sigma %v, x[0] %v", tt.name, sum, tt.digest, s.Sigma, x[0])
		}
	}
}
