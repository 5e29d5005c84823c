/** What all objects have. */
import type { TypeMembers } from '../language/types.js'
import type { ObjectMeta } from './v1.js'

/** The part of an object that generic code relies on. */
export interface ApiObject extends TypeMembers { metadata: ObjectMeta }
