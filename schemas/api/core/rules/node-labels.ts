/** Labels of nodes that went out of use. */
const RENAMED: ReadonlyArray<readonly [label: string, since: string, name: string]> = [
  ['beta.orch.io/arch', '1.14', 'orch.io/arch'],
  ['beta.orch.io/os', '1.14', 'orch.io/os'],
  ['failure-domain.beta.orch.io/region', '1.17', 'topology.orch.io/region'],
  ['failure-domain.beta.orch.io/zone', '1.17', 'topology.orch.io/zone'],
  ['beta.orch.io/instance-type', '1.17', 'node.orch.io/instance-type']
]
const NEW_NAMES: ReadonlyMap<string, string> = new Map(RENAMED.map(([label, , name]) => [label, name]))
const GONE: ReadonlyMap<string, string> = new Map(RENAMED
  .map(([label, since, name]) => [label, `deprecated since v${since}; use "${name}" instead`]))
const LATER: ReadonlyMap<string, string> = new Map([
  ['app.orch.io/created-by', 'deprecated'],
  ['scheduler.alpha.orch.io/preferAvoidPods', 'non-functional in v1.24+; use a taint instead'],
  ['node-role.orch.io/master', 'non-functional; use "node-role.orch.io/control-plane" instead']
])

/** Why a label should not be used; undefined if it may. @param isLater whether release 1.36 is emulated */
export const goneLabel = (key: string, isLater: boolean): string | undefined =>
  GONE.get(key) ?? (isLater ? LATER.get(key) : undefined)

/** Under which name a label goes on. */
export const newName = (key: string): string | undefined => NEW_NAMES.get(key)
