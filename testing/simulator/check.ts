/** Refuses what a simulation cannot mean, with its path. */
import { OptionError } from '../../app.js'
import { isObject } from '../../schemas/language/values.js'
import { millisecondsOf } from '../clock.js'
import { checkMembers, checkOneOf } from '../options.js'
import { stepsOf } from './selection.js'
import type { Expression, SimulateOptions, Stage, StageNext, StageSelector } from './stage.js'

type Known<T> = Readonly<Record<keyof T, true>>

const OPTIONS: Known<SimulateOptions> = { nodes: true, stages: true, defaults: true }
const STAGE: Known<Stage> = {
  name: true, resource: true, selector: true, when: true, delay: true, jitter: true, next: true
}
const SELECTOR: Known<StageSelector> = { matchLabels: true, matchAnnotations: true, matchExpressions: true }
const EXPRESSION: Known<Expression> = { key: true, operator: true, values: true }
const NEXT: Known<StageNext> = { status: true, patch: true, type: true, event: true, create: true, delete: true }
const MAX_NODES = 1000
const NODE_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/

/** @throws OptionError */
export function checkSimulation (options: SimulateOptions): void {
  const members = membersOf(options, 'simulate', OPTIONS)
  const { nodes = [], stages = [] } = options
  if (typeof nodes === 'number' ? !(Number.isInteger(nodes) && nodes >= 0 && nodes <= MAX_NODES) : !areNames(nodes)) {
    refuse('simulate.nodes', nodes, `must be a number up to ${MAX_NODES}, or a list of names of nodes`)
  }
  if (![undefined, true, false].includes(members['defaults'] as boolean | undefined)) {
    refuse('simulate.defaults', members['defaults'], 'must be true or false')
  }
  if (!Array.isArray(stages)) refuse('simulate.stages', stages, 'must be a list')
  for (const [at, stage] of stages.entries()) {
    checkStage(stage, `simulate.stages[${at}]`)
    if (stages.findIndex(({ name }) => name === stage.name) < at) {
      refuse(`simulate.stages[${at}].name`, stage.name, 'is the name of a stage before')
    }
  }
}

const areNames = (nodes: unknown): boolean => Array.isArray(nodes) && nodes.length <= MAX_NODES &&
  nodes.every(name => typeof name === 'string' && NODE_NAME.test(name))

function checkStage (stage: Stage, at: string): void {
  membersOf(stage, at, STAGE)
  for (const [path, text] of [
    ['name', stage.name], ['resource.apiVersion', stage.resource?.apiVersion], ['resource.kind', stage.resource?.kind]
  ] as const) if (typeof text !== 'string' || text === '') refuse(`${at}.${path}`, text, 'must be a text')
  checkMembers(stage.resource, ['apiVersion', 'kind'], `${at}.resource`)
  checkSelector(stage.selector, `${at}.selector`)
  const { when } = stage
  if (when !== undefined && typeof when !== 'function') refuse(`${at}.when`, when, 'must be a function')
  for (const name of ['delay', 'jitter'] as const) {
    try {
      millisecondsOf(stage[name] ?? 0)
    } catch (error) {
      refuse(`${at}.${name}`, stage[name], (error as Error).message)
    }
  }
  checkNext(stage.next, `${at}.next`)
}

function checkSelector (selector: StageSelector | undefined, at: string): void {
  if (selector === undefined) return
  membersOf(selector, at, SELECTOR)
  for (const [index, expression] of (selector.matchExpressions ?? []).entries()) {
    const path = `${at}.matchExpressions[${index}]`
    membersOf(expression, path, EXPRESSION)
    checkOneOf(expression.operator, ['In', 'NotIn', 'Exists', 'DoesNotExist'], `${path}.operator`)
    if (typeof expression.key !== 'string' || stepsOf(expression.key) === undefined) {
      refuse(`${path}.key`, expression.key, 'must be a path such as .status.phase')
    }
  }
}

function checkNext (next: StageNext, at: string): void {
  const members = membersOf(next, at, NEXT)
  checkOneOf(next.type, ['merge', 'strategic'], `${at}.type`)
  for (const name of ['status', 'patch', 'create']) {
    if (members[name] !== undefined && typeof members[name] !== 'function') membersOf(members[name], `${at}.${name}`)
  }
  if (next.event !== undefined) {
    membersOf(next.event, `${at}.event`, { type: true, reason: true, message: true })
    checkOneOf(next.event.type, ['Normal', 'Warning'], `${at}.event.type`)
  }
  if (Object.keys(members).every(name => name === 'type')) refuse(at, next, 'changes nothing')
}

function membersOf (value: unknown, at: string, known?: Readonly<Record<string, true>>): Record<string, unknown> {
  if (!isObject(value)) refuse(at, value, 'must be an object')
  if (known !== undefined) checkMembers(value, Object.keys(known), at)
  return value
}

function refuse (at: string, value: unknown, why: string): never {
  throw new OptionError(at, value === undefined ? undefined : JSON.stringify(value), why)
}
