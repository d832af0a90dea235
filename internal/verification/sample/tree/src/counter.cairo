/// What a counter can do.
#[starknet::interface]
pub trait ICounter<T> {
    /// The count so far.
    fn count(self: @T) -> u128;
    /// Counts on, and tells who did.
    fn add(ref self: T, by: u128);
}

/// A counter that anybody may count on: the smallest contract that has storage, an event,
/// a constructor and two functions.
#[starknet::contract]
pub mod Counter {
    use starknet::storage::{StoragePointerReadAccess, StoragePointerWriteAccess};
    use starknet::{ContractAddress, get_caller_address};

    #[storage]
    struct Storage {
        count: u128,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    enum Event {
        Counted: Counted,
    }

    #[derive(Drop, starknet::Event)]
    struct Counted {
        #[key]
        by: ContractAddress,
        count: u128,
    }

    #[constructor]
    fn constructor(ref self: ContractState, first: u128) {
        self.count.write(first);
    }

    #[abi(embed_v0)]
    impl CounterImpl of super::ICounter<ContractState> {
        fn count(self: @ContractState) -> u128 {
            self.count.read()
        }

        fn add(ref self: ContractState, by: u128) {
            let count = self.count.read() + by;
            self.count.write(count);
            self.emit(Counted { by: get_caller_address(), count });
        }
    }
}
