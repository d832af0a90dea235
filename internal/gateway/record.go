package gateway

import (
	"net/http"
	"time"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/gateway/wire"
	"chainexplorer/internal/kernel"
)

// tell records a call for the usage of its key, once its answer is settled.
func (g *Gateway) tell(v *visit, c *wire.Call, out *outcome) {
	status := http.StatusOK
	switch {
	case c.Notification():
		status = http.StatusNoContent
	case out.fault != nil:
		status = statusOf(out.fault)
	}
	at := v.route()
	name := "other" // what a caller made up is not kept: it may be anything
	if m := method.Lookup(c.Method); m != nil {
		name = m.Name
	}
	g.RecordCall(v.request, &kernel.Call{Method: at.Method, Path: at.Path, Name: name, Class: kernel.Class(budgetOf(out.class)),
		Status: status, Failed: out.fault != nil || out.failure != nil, Took: out.took, Budget: out.budget})
}

// route is the one that the visit came by, whatever the address was.
func (v *visit) route() *kernel.Route {
	if v.socket {
		return &socketRoute
	}
	return &route
}

// tellStream records a call that made or ended a subscription, or failed to.
func (g *Gateway) tellStream(v *visit, m *method.Method, took time.Duration, failed bool, why *wire.Error) {
	status := http.StatusOK
	if why != nil {
		status = statusOf(why)
	}
	g.RecordCall(v.request, &kernel.Call{Method: socketRoute.Method, Path: socketRoute.Path, Name: m.Name, Class: kernel.Class(m.Class.Budget()),
		Status: status, Failed: failed, Took: took})
}
