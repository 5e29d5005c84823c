/** Limits of the interface that more than one room keeps. */

/** Bytes of a request body; nobody is told to go on with a larger one. */
export const MOST_BODY_BYTES = 3 * 1024 * 1024
/**
 * Bytes of an object as it is stored, field ownership included: what etcd takes in one request by default, and so a bound on every
 * back end.
 */
export const MOST_STORED_BYTES = 1.5 * 1024 * 1024
/**
 * List items and object members in one body, and in one stored object, so that what can be read can be sent back. The largest
 * definitions of types come near; 3 MiB of the smallest values would hold the event loop for a second.
 */
export const MOST_VALUES = 50_000
/**
 * Map entries, and items of lists keyed for ownership, in one object. A large definition of a type has some 10,000. Each costs a
 * step of a request (parse, decode, compare, encode) up to a microsecond, several times what an item of a plain list costs.
 */
export const MOST_ENTRIES = 16_000
/** Members of one JSON object, before it is known what it declares: a set of fields has a member more than what it is the set of. */
export const MOST_MEMBERS = MOST_ENTRIES + 100
/** JSON with more bytes takes a millisecond or more for each step: others have their turn between two steps. */
export const LARGE_OBJECT_BYTES = 16 * 1024
