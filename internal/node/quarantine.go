package node

import "time"

// This file keeps nodes that gave a false answer away from reads. A node that
// does not answer is unhealthy; one that answers wrongly is believed nothing
// for a while, because what else it says cannot be checked as a block can.

// quarantine is what a node did wrong and how long it is kept away for it.
type quarantine struct {
	until    time.Time
	reason   string
	offences int       // in a row, without a long good time in between
	last     time.Time // when the last of them was
}

// Blame puts the named node into quarantine because of a false answer. Each
// offence doubles the time; answers that were under way when it began count as
// one with it. In a pool of one node it is only noted: there is no choice.
func (p *Pool) Blame(name string, err error) {
	n := p.nodeNamed(name)
	if n == nil || err == nil {
		return
	}
	now := time.Now()
	n.mu.Lock()
	q := &n.quarantine
	if now.Before(q.until) {
		n.mu.Unlock()
		return
	}
	if now.Sub(q.last) > 2*p.cfg.QuarantineMax {
		q.offences = 0
	}
	d := p.cfg.QuarantineMax
	if q.offences < 32 {
		if grown := p.cfg.QuarantineBase << q.offences; grown > 0 && grown < d {
			d = grown
		}
	}
	q.offences++
	reason := clip(n.addr.redact(err.Error()), 300)
	q.last, q.until, q.reason = now, now.Add(d), reason
	n.mu.Unlock()
	p.cfg.Metrics.falseAnswer(n.name)
	p.cfg.Metrics.setQuarantined(n.name, true)
	p.log.Error("node gave a false answer and is not believed for a while", "node", n.name, "for", d, "error", reason)
	p.announce(false) // its head may have been the best
}

// Pardon ends the quarantine of the node of a pool of one, which was only noted:
// whoever calls it found that the node's answers are good again. The next offence
// counts as before.
func (p *Pool) Pardon() {
	if len(p.nodes) > 1 {
		return
	}
	n := p.nodes[0]
	n.mu.Lock()
	n.quarantine.until = time.Time{}
	n.mu.Unlock()
	p.cfg.Metrics.setQuarantined(n.name, false)
}

// shunnedLocked says whether the node is in a quarantine that counts. Needs n.mu.
func (p *Pool) shunnedLocked(n *node, now time.Time) bool {
	return len(p.nodes) > 1 && now.Before(n.quarantine.until)
}

// anyMeant says whether there is a node that the read could ever be put to.
func (p *Pool) anyMeant(op *readOp) bool {
	if op.only == "" && len(op.not) == 0 {
		return true // refusals and failures have errors of their own
	}
	for _, n := range p.nodes {
		n.mu.Lock()
		ok := op.meant(n)
		n.mu.Unlock()
		if ok {
			return true
		}
	}
	return false
}

func (p *Pool) quarantined(n *node) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.quarantine.until)
}

// allShunned says whether every node that the read is meant for is in quarantine.
func (p *Pool) allShunned(op *readOp) bool {
	now, any := time.Now(), false
	for _, n := range p.nodes {
		n.mu.Lock()
		meant, shunned := op.meant(n), p.shunnedLocked(n, now)
		n.mu.Unlock()
		if meant && !shunned {
			return false
		}
		any = any || meant
	}
	return any
}
