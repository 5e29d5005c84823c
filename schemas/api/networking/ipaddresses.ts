/** IPAddress: an address that is taken, and who has it. */
import { name, NONE, text } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { resource } from '../../resource.js'
import { addressName } from './rules/addresses.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

function parentOf ({ spec: { parentRef } }: v1.IPAddress): string {
  if (parentRef === undefined) return NONE
  const { group = '', resource, namespace = '', name } = parentRef
  const type = `${resource}${group === '' ? '' : `.${group}`}`.toLowerCase()
  return `${type}${namespace === '' ? '' : `/${namespace}`}/${name}`
}

export const ipAddresses = resource(v1.IPAddress, {
  plural: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  namespaced: false,
  gate: 'MultiCIDRServiceAllocator',
  nameRule: addressName,
  columns: [name, text('ParentRef', 'Object that has the address.', parentOf)],
  others: [{
    ...sameFields(v1beta1.IPAddress, v1.IPAddress),
    deprecation: { deprecated: '1.34', removed: '1.37' }
  }]
})
