/** Labels of nodes that went out of use. */
const GONE: ReadonlyMap<string, string> = new Map([
  ['beta.orch.io/arch', 'deprecated since v1.14; use "orch.io/arch" instead'],
  ['beta.orch.io/os', 'deprecated since v1.14; use "orch.io/os" instead'],
  ['failure-domain.beta.orch.io/region', 'deprecated since v1.17; use "topology.orch.io/region" instead'],
  ['failure-domain.beta.orch.io/zone', 'deprecated since v1.17; use "topology.orch.io/zone" instead'],
  ['beta.orch.io/instance-type', 'deprecated since v1.17; use "node.orch.io/instance-type" instead']
])
const LATER: ReadonlyMap<string, string> = new Map([
  ['app.orch.io/created-by', 'deprecated'],
  ['scheduler.alpha.orch.io/preferAvoidPods', 'non-functional in v1.24+; use a taint instead'],
  ['node-role.orch.io/master', 'non-functional; use "node-role.orch.io/control-plane" instead']
])

/** Why a label should not be used; undefined if it may. @param isLater whether release 1.36 is emulated */
export const goneLabel = (key: string, isLater: boolean): string | undefined =>
  GONE.get(key) ?? (isLater ? LATER.get(key) : undefined)
