/** The webhook configurations, compiled when they change. */
import type { MutatingWebhookConfiguration } from '../../schemas/api/admissionregistration/webhooks.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { FollowedObjects } from '../followed-objects.js'
import { hooksOf, type Hook } from './hook.js'
import { HookSet } from './hook-set.js'

const EMPTY = new HookSet([])

/** @param onChange receives all hooks after each change */
export const hookConfigurations = (
  resources: ResourceRegistry, plural: string, onChange: (hooks: readonly Hook[]) => void
): FollowedObjects<readonly Hook[], HookSet> => new FollowedObjects<readonly Hook[], HookSet>(resources, plural, {
  // Both kinds share the fields that are read here.
  one: object => hooksOf(object as MutatingWebhookConfiguration),
  none: EMPTY,
  all: lists => {
    const hooks = lists.flat()
    onChange(hooks)
    return hooks.length === 0 ? EMPTY : new HookSet(hooks)
  }
})
