use starknet::{ClassHash, ContractAddress};

/// How an amount is paid.
#[derive(Drop, Serde)]
pub struct Payment {
    pub to: ContractAddress,
    pub amount: u256,
}

#[starknet::interface]
pub trait IToken<T> {
    fn name(self: @T) -> ByteArray;
    fn symbol(self: @T) -> ByteArray;
    fn decimals(self: @T) -> u8;
    fn total_supply(self: @T) -> u256;
    fn balance_of(self: @T, account: ContractAddress) -> u256;
    fn transfer(ref self: T, recipient: ContractAddress, amount: u256) -> bool;
    fn mint(ref self: T, recipient: ContractAddress, amount: u256);
    fn pay(ref self: T, payments: Span<Payment>, memo: ByteArray);
    fn fail(ref self: T);
    fn upgrade(ref self: T, new_class: ClassHash);
}

/// A token that its maker names; `VERSION` alone tells the two apart.
#[starknet::contract]
pub mod Token {
    use starknet::storage::{
        Map, StorageMapReadAccess, StorageMapWriteAccess, StoragePointerReadAccess,
        StoragePointerWriteAccess,
    };
    use starknet::syscalls::replace_class_syscall;
    use starknet::{ClassHash, ContractAddress, SyscallResultTrait, get_caller_address};
    use super::Payment;

    #[storage]
    struct Storage {
        name: ByteArray,
        symbol: ByteArray,
        supply: u256,
        balances: Map<ContractAddress, u256>,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        Transfer: Transfer,
        Paid: Paid,
        Upgraded: Upgraded,
    }

    #[derive(Drop, starknet::Event)]
    pub struct Transfer {
        #[key]
        pub from: ContractAddress,
        #[key]
        pub to: ContractAddress,
        pub value: u256,
    }

    #[derive(Drop, starknet::Event)]
    pub struct Paid {
        #[key]
        pub by: ContractAddress,
        pub payments: u32,
        pub memo: ByteArray,
    }

    #[derive(Drop, starknet::Event)]
    pub struct Upgraded {
        pub class_hash: ClassHash,
    }

    #[constructor]
    fn constructor(ref self: ContractState, name: ByteArray, symbol: ByteArray) {
        self.name.write(name);
        self.symbol.write(symbol);
    }

    #[abi(embed_v0)]
    impl TokenImpl of super::IToken<ContractState> {
        fn name(self: @ContractState) -> ByteArray {
            self.name.read()
        }
        fn symbol(self: @ContractState) -> ByteArray {
            self.symbol.read()
        }
        fn decimals(self: @ContractState) -> u8 {
            6
        }
        fn total_supply(self: @ContractState) -> u256 {
            self.supply.read()
        }
        fn balance_of(self: @ContractState, account: ContractAddress) -> u256 {
            self.balances.read(account)
        }
        fn transfer(ref self: ContractState, recipient: ContractAddress, amount: u256) -> bool {
            self.move(get_caller_address(), recipient, amount);
            true
        }
        fn mint(ref self: ContractState, recipient: ContractAddress, amount: u256) {
            let zero: ContractAddress = 0.try_into().unwrap();
            self.supply.write(self.supply.read() + amount);
            self.balances.write(recipient, self.balances.read(recipient) + amount);
            self.emit(Transfer { from: zero, to: recipient, value: amount });
        }
        fn pay(ref self: ContractState, payments: Span<Payment>, memo: ByteArray) {
            let by = get_caller_address();
            for p in payments {
                self.move(by, *p.to, *p.amount);
            }
            self.emit(Paid { by, payments: payments.len(), memo });
        }
        fn fail(ref self: ContractState) {
            core::panic_with_felt252('this always fails');
        }
        fn upgrade(ref self: ContractState, new_class: ClassHash) {
            replace_class_syscall(new_class).unwrap_syscall();
            self.emit(Upgraded { class_hash: new_class });
        }
    }

    #[generate_trait]
    impl Inner of InnerTrait {
        fn move(
            ref self: ContractState, from: ContractAddress, to: ContractAddress, amount: u256,
        ) {
            self.balances.write(from, self.balances.read(from) - amount);
            self.balances.write(to, self.balances.read(to) + amount);
            self.emit(Transfer { from, to, value: amount });
        }
    }
}

#[starknet::interface]
pub trait ICounter<T> {
    fn count(self: @T) -> u64;
    fn raise(ref self: T, by: u64);
}

/// What a token can be upgraded to.
#[starknet::contract]
pub mod Counter {
    use starknet::storage::{StoragePointerReadAccess, StoragePointerWriteAccess};

    #[storage]
    struct Storage {
        count: u64,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        Raised: Raised,
    }

    #[derive(Drop, starknet::Event)]
    pub struct Raised {
        pub by: u64,
        pub count: u64,
    }

    #[abi(embed_v0)]
    impl CounterImpl of super::ICounter<ContractState> {
        fn count(self: @ContractState) -> u64 {
            self.count.read()
        }
        fn raise(ref self: ContractState, by: u64) {
            let count = self.count.read() + by;
            self.count.write(count);
            self.emit(Raised { by, count });
        }
    }
}
