/** API limits that several folders enforce. */

/** Bytes of a request body. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024
/** Bytes of a stored object, managed fields included. etcd's default request limit; it applies to every back end. */
export const MAX_STORED_BYTES = 1.5 * 1024 * 1024
/**
 * List items and object members of a body and of a stored object. The largest CustomResourceDefinitions come near. 3
 * MiB of the smallest values would block the event loop for a second.
 */
export const MAX_VALUES = 50_000
/**
 * Map entries, and items of lists with per-item ownership, in one object. A large CustomResourceDefinition has about
 * 10,000. Each costs several times as much as an item of a plain list.
 */
export const MAX_ENTRIES = 16_000
/** Members of one JSON object, checked before its type is known: MAX_ENTRIES and some for its fixed fields. */
export const MAX_MEMBERS = MAX_ENTRIES + 100
/** Each processing step of a larger object takes a millisecond or more, so the event loop yields between steps. */
export const LARGE_OBJECT_BYTES = 16 * 1024
/** Each form of a larger object (other names, protobuf, another version) is made in several turns of the event loop. */
export const LONG_FORM_BYTES = 256 * 1024
/**
 * Maximum bytes of the path of a Unix domain socket, on Linux and macOS. Node truncates longer paths without an error.
 */
export const MAX_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107
